/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/signed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/text.h"
#include "trust/key_file.h"

enum {
	SHORT_ID = 12,
	DATE_SIZE = 11,
	DAY_S = 24 * 60 * 60,
	SOON_S = 14 * DAY_S,
	PART = 4
};

static void record_release(struct signed_record *record)
{
	free(record->ref);
	free(record->signatures);
}

void signed_list_release(struct signed_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		record_release(&list->items[i]);
	free(list->items);
	*list = (struct signed_list){ .count = 0 };
}

static bool is_of(const struct signed_record *record, const char *ref)
{
	return strcmp(record->ref, ref) == 0;
}

static bool has_record(const struct signed_list *list,
                       const struct tkb_trusted *record)
{
	for (size_t i = 0; i < list->count; i++) {
		if (is_of(&list->items[i], record->ref) &&
		    memcmp(&list->items[i].record, record->record,
		           sizeof(*record->record)) == 0)
			return true;
	}
	return false;
}

void signed_list_add(struct signed_list *list, const struct tkb_trusted *record)
{
	struct signed_record made = {
		.record = *record->record,
		.signature_count = record->signature_count,
	};
	struct signed_record *items;

	if (has_record(list, record))
		return;
	items = table_grow(list->items, list->count, sizeof(*items));
	list->items = items != NULL ? items : list->items;
	made.ref = strdup(record->ref);
	made.signatures =
		calloc(record->signature_count + 1, sizeof(*made.signatures));
	if (made.ref == NULL || made.signatures == NULL || items == NULL) {
		record_release(&made);
		list->is_cut = true;
		return;
	}
	for (size_t i = 0; i < record->signature_count; i++)
		made.signatures[i] = record->signatures[i];
	items[list->count++] = made;
}

void signed_list_forget(struct signed_list *list, const char *ref)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (is_of(&list->items[i], ref))
			record_release(&list->items[i]);
		else
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

static const char *role_name(enum tkb_trust_stage stage)
{
	return stage == TKB_TRUST_STAGE_PROD ? "promote" : "publish";
}

static const char *stage_name(enum tkb_trust_stage stage)
{
	return stage == TKB_TRUST_STAGE_PROD ? "prod" : "dev";
}

void signed_when(uint64_t seconds, char out[SIGNED_WHEN_SIZE])
{
	const time_t when = (time_t)seconds;
	struct tm parts = { 0 };

	out[0] = '\0';
	if (gmtime_r(&when, &parts) != NULL)
		(void)strftime(out, SIGNED_WHEN_SIZE, "%Y-%m-%dT%H:%M:%SZ",
		               &parts);
}

static void put_signature(struct json_out *json,
                          const struct signed_record *record,
                          const struct tkb_signature *signature)
{
	char digest[TKB_DIGEST_HEX_SIZE];
	char when[SIGNED_WHEN_SIZE];

	json_out_open_object(json, NULL);
	tkb_digest_to_hex(&record->record, digest);
	json_out_text(json, "record", digest);
	json_out_text(json, "key", signature->signer);
	tkb_digest_to_hex(&signature->key, digest);
	json_out_text(json, "id", digest);
	json_out_text(json, "role", role_name(signature->stage));
	json_out_text(json, "stage", stage_name(signature->stage));
	json_out_number(json, "sequence", signature->sequence);
	signed_when(signature->expires_s, when);
	json_out_text(json, "expires", when);
	json_out_close(json);
}

void signed_list_json(const struct signed_list *list, const char *ref,
                      struct json_out *json)
{
	json_out_open_array(json, "signatures");
	for (size_t i = 0; i < list->count; i++) {
		const struct signed_record *const record = &list->items[i];

		for (size_t k = 0;
		     is_of(record, ref) && k < record->signature_count; k++)
			put_signature(json, record, &record->signatures[k]);
	}
	json_out_close(json);
}

/* All signatures of a ref by one key, for one stage. */
struct group {
	const struct tkb_signature *first; /* the one that expires */
	size_t count;
	uint64_t newest; /* sequence */
};

enum {
	GROUPS = 2 * 64 /* pairs of key and stage: a policy has no more */
};

static void add_to_group(struct group groups[GROUPS], size_t *count,
                         const struct tkb_signature *signature)
{
	size_t i = 0;

	while (i < *count && (memcmp(&groups[i].first->key, &signature->key,
	                             sizeof(signature->key)) != 0 ||
	                      groups[i].first->stage != signature->stage))
		i++;
	if (i == GROUPS)
		return;
	if (i == *count)
		groups[(*count)++] = (struct group){ .first = signature };
	if (signature->expires_s < groups[i].first->expires_s)
		groups[i].first = signature;
	if (signature->sequence > groups[i].newest)
		groups[i].newest = signature->sequence;
	groups[i].count++;
}

static size_t find_groups(const struct signed_list *list, const char *ref,
                          struct group groups[GROUPS])
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct signed_record *const record = &list->items[i];

		for (size_t k = 0;
		     is_of(record, ref) && k < record->signature_count; k++)
			add_to_group(groups, &count, &record->signatures[k]);
	}
	return count;
}

static void write_group(const struct group *group, char *out, size_t size)
{
	const struct tkb_signature *const first = group->first;
	char id[TKB_DIGEST_HEX_SIZE];
	char when[SIGNED_WHEN_SIZE];

	tkb_digest_to_hex(&first->key, id);
	signed_when(first->expires_s, when);
	(void)snprintf(out, size,
	               "%zu %s signed by '%s' (key %.*s), which may %s: stage "
	               "%s, sequence %" PRIu64 ", until %s",
	               group->count,
	               text_plural(group->count, "record", "records"),
	               first->signer, SHORT_ID, id, role_name(first->stage),
	               stage_name(first->stage), group->newest, when);
}

void signed_list_print(const struct signed_list *list, const char *ref,
                       const struct cli *cli, FILE *out)
{
	struct group groups[GROUPS];
	const size_t count = find_groups(list, ref, groups);
	char line[256];

	for (size_t i = 0; i < count; i++) {
		write_group(&groups[i], line, sizeof(line));
		if (out != NULL)
			text_line(out, "%s", line);
		else
			cli_say(cli, "%s", line);
	}
	if (list->is_cut)
		cli_say(cli, "out of memory: not all signatures are shown");
}

void signed_list_brief(const struct signed_list *list, const char *ref,
                       char out[SIGNED_BRIEF_SIZE])
{
	struct group groups[GROUPS];
	const size_t count = find_groups(list, ref, groups);
	uint64_t end_s = UINT64_MAX;
	char when[SIGNED_WHEN_SIZE];
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *const name = groups[i].first->signer;

		if (groups[i].first->expires_s < end_s)
			end_s = groups[i].first->expires_s;
		if (used + strlen(name) + SIGNED_WHEN_SIZE < SIGNED_BRIEF_SIZE)
			used += (size_t)snprintf(
				out + used, SIGNED_BRIEF_SIZE - used, "%s%s",
				i == 0 ? "signed by " : ", ", name);
	}
	if (count == 0)
		return;
	signed_when(end_s, when);
	when[DATE_SIZE - 1] = '\0';
	(void)snprintf(out + used, SIGNED_BRIEF_SIZE - used, " until %s", when);
}

bool signed_ends_soon(uint64_t sequence, uint64_t end_s, uint64_t now_s)
{
	uint64_t soon_s = SOON_S;

	if (end_s <= now_s)
		return true;
	if (sequence < end_s && (end_s - sequence) / PART < soon_s)
		soon_s = (end_s - sequence) / PART;
	return end_s - now_s < soon_s;
}

bool signed_list_ending(const struct signed_list *list, const char *ref,
                        char *out, size_t size)
{
	const uint64_t now_s = (uint64_t)time(NULL);
	struct group groups[GROUPS];
	const size_t count = find_groups(list, ref, groups);

	for (size_t i = 0; i < count; i++) {
		const struct tkb_signature *const first = groups[i].first;
		char when[SIGNED_WHEN_SIZE];
		char left[TEXT_AGE_SIZE];

		if (!signed_ends_soon(first->sequence, first->expires_s, now_s))
			continue;
		signed_when(first->expires_s, when);
		text_age(first->expires_s > now_s ? first->expires_s - now_s
		                                  : 0,
		         left);
		(void)snprintf(out, size,
		               "the signature of '%s' for ref '%s' expires in "
		               "%s, at %s",
		               first->signer, ref, left, when);
		return true;
	}
	return false;
}

void signed_list_warn(const struct signed_list *list, const char *ref,
                      const struct cli *cli)
{
	char words[512];

	if (signed_list_ending(list, ref, words, sizeof(words)))
		cli_say(cli, "%s: 'tkbundle sign --all' renews it", words);
}
