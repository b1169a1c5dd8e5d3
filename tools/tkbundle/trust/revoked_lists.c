/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/revoked_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/text.h"
#include "trust/signed.h"

void revoked_lists_add(struct revoked_lists *lists,
                       const struct tkb_revoked_list *list)
{
	size_t i = 0;

	while (i < lists->count &&
	       strcmp(lists->items[i].signer, list->signer) != 0)
		i++;
	if (i == REVOKED_LISTS_LIMIT)
		return;
	if (i == lists->count)
		lists->items[lists->count++] = *list;
	else if (lists->items[i].expires_s < list->expires_s)
		lists->items[i] = *list;
}

void revoked_lists_json(const struct revoked_lists *lists,
                        struct json_out *json)
{
	char when[SIGNED_WHEN_SIZE];

	json_out_open_array(json, "lists");
	for (size_t i = 0; i < lists->count; i++) {
		const struct tkb_revoked_list *const list = &lists->items[i];

		signed_when(list->expires_s, when);
		json_out_open_object(json, NULL);
		json_out_text(json, "key", list->signer);
		json_out_number(json, "revoked", list->revoked_count);
		json_out_number(json, "sequence", list->sequence);
		json_out_text(json, "expires", when);
		json_out_close(json);
	}
	json_out_close(json);
}

void revoked_lists_print(const struct revoked_lists *lists, const char *indent,
                         FILE *out)
{
	char when[SIGNED_WHEN_SIZE];

	for (size_t i = 0; i < lists->count; i++) {
		const struct tkb_revoked_list *const list = &lists->items[i];

		signed_when(list->expires_s, when);
		text_line(out,
		          "%srevoked by the list of '%s': %" PRIu64 " %s, "
		          "until %s",
		          indent, list->signer, list->revoked_count,
		          text_plural(list->revoked_count, "digest", "digests"),
		          when);
	}
}

bool revoked_lists_ending(const struct revoked_lists *lists, char *out,
                          size_t size)
{
	const uint64_t now_s = (uint64_t)time(NULL);
	const struct tkb_revoked_list *last = NULL;
	char when[SIGNED_WHEN_SIZE];
	char left[TEXT_AGE_SIZE];

	/* The remote is used as long as one of them counts. */
	for (size_t i = 0; i < lists->count; i++) {
		if (last == NULL || lists->items[i].expires_s > last->expires_s)
			last = &lists->items[i];
	}
	if (last == NULL ||
	    !signed_ends_soon(last->sequence, last->expires_s, now_s))
		return false;
	signed_when(last->expires_s, when);
	text_age(last->expires_s > now_s ? last->expires_s - now_s : 0, left);
	(void)snprintf(out, size,
	               "the list of what is revoked, by '%s', expires in %s, "
	               "at %s: from then on, nothing of the remote is used",
	               last->signer, left, when);
	return true;
}

void revoked_lists_warn(const struct revoked_lists *lists,
                        const struct cli *cli)
{
	char words[512];

	if (revoked_lists_ending(lists, words, sizeof(words)))
		cli_say(cli, "%s; 'tkbundle revoke' renews it", words);
}
