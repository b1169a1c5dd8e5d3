/* SPDX-License-Identifier: Apache-2.0 */
#include "why/why_out.h"

#include <inttypes.h>
#include <string.h>

#include "cli/text.h"

#define KEY_WIDTH 12 /* 60 bits of a key's hash */

static const char *const in_both[2] = { "in A", "in B" };

static void put_entry(struct json_out *json, const char *side,
                      const struct tkb_entry *entry)
{
	if (entry == NULL) {
		json_out_null(json, side);
		return;
	}
	json_out_open_object(json, side);
	json_out_text(json, "key", entry->key);
	json_out_text(json, "kind", tkb_kind_name(entry->kind));
	json_out_text(json, "name", entry->name);
	json_out_close(json);
}

static void put_pair(struct json_out *json, const struct why_pair *pair)
{
	json_out_open_object(json, NULL);
	put_entry(json, "a", pair->a);
	put_entry(json, "b", pair->b);
	json_out_flag(json, "equal", pair->is_equal);
	json_out_text(json, "reason",
	              pair->is_equal ? NULL : reason_word(pair->reason));
	json_out_open_array(json, "differences");
	for (size_t i = 0;
	     pair->differences != NULL && i < pair->differences->count; i++) {
		const struct difference *const at =
			&pair->differences->items[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "part", at->name);
		json_out_text(json, "reason", reason_word(at->reason));
		json_out_text(json, "a", at->a[0] != '\0' ? at->a : NULL);
		json_out_text(json, "b", at->b[0] != '\0' ? at->b : NULL);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_text(json, "detail",
	              pair->detail[0] != '\0' ? pair->detail : NULL);
	json_out_text(json, "advice",
	              pair->advice[0] != '\0' ? pair->advice : NULL);
	json_out_close(json);
}

static void print_differences(const struct cli *cli,
                              const struct why_pair *pair)
{
	char text[2 * DIFFERENCE_TEXT_SIZE + 200] =
		"what decides its key is not recorded";

	if (pair->differences->count == 0 && pair->a->kind == TKB_KIND_KERNEL)
		differences_left(pair->differences, text, sizeof(text));
	if (pair->differences->count == 0)
		text_line(cli->out, "  %s", text);
	for (size_t i = 0; i < pair->differences->count; i++) {
		differences_show(&pair->differences->items[i], in_both, text,
		                 sizeof(text));
		text_line(cli->out, "  %s", text);
	}
}

static void print_pair(const struct cli *cli, const struct why_pair *pair)
{
	const struct tkb_entry *const one = pair->a != NULL ? pair->a : pair->b;

	if (pair->is_equal)
		text_line(cli->out, "%s %.*s: equal", one->name, KEY_WIDTH,
		          one->key);
	else if (pair->reason == REASON_DAMAGED)
		text_line(cli->out,
		          "%s %.*s: in %s only, in %s it is not whole",
		          one->name, KEY_WIDTH, one->key,
		          pair->a != NULL ? "A" : "B",
		          pair->a != NULL ? "B" : "A");
	else if (pair->a == NULL || pair->b == NULL)
		text_line(cli->out,
		          "%s %.*s: only in %s, and nothing like it "
		          "in %s",
		          one->name, KEY_WIDTH, one->key,
		          pair->a != NULL ? "A" : "B",
		          pair->a != NULL ? "B" : "A");
	else if (pair->differences == NULL)
		text_line(cli->out, "%s %.*s: one key, %s", one->name,
		          KEY_WIDTH, one->key, reason_text(pair->reason));
	else
		text_line(cli->out, "%s: %.*s in A, %.*s in B: %s", one->name,
		          KEY_WIDTH, pair->a->key, KEY_WIDTH, pair->b->key,
		          reason_text(pair->reason));
	if (pair->differences != NULL)
		print_differences(cli, pair);
	if (pair->detail[0] != '\0')
		text_line(cli->out, "  in %s", pair->detail);
	if (pair->advice[0] != '\0')
		text_line(cli->out, "  do: %s", pair->advice);
}

void why_out_pair(struct cli *cli, const struct why_pair *pair)
{
	put_pair(&cli->json, pair);
	if (!cli->json.is_wanted)
		print_pair(cli, pair);
}
