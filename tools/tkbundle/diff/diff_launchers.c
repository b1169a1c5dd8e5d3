/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff_launchers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/entry_out.h"
#include "cli/text.h"

static bool same_payload(const struct tkb_saved_launcher *a,
                         const struct tkb_saved_launcher *b)
{
	return a->size == b->size &&
	       memcmp(&a->digest, &b->digest, sizeof(a->digest)) == 0;
}

static bool same_needs(const struct tkb_saved_launcher *a,
                       const struct tkb_saved_launcher *b)
{
	if (a->need != b->need || a->need_count != b->need_count)
		return false;

	for (size_t i = 0; i < a->need_count; i++) {
		if (strcmp(a->needs[i], b->needs[i]) != 0)
			return false;
	}

	return true;
}

static enum diff_state state_of(const struct tkb_saved_launcher *a,
                                const struct tkb_saved_launcher *b)
{
	if (b == NULL)
		return DIFF_ONLY_A;
	if (a == NULL)
		return DIFF_ONLY_B;
	if (same_payload(a, b) && same_needs(a, b) &&
	    strcmp(a->name, b->name) == 0)
		return DIFF_EQUAL;
	return DIFF_DIFFERS;
}

static const struct tkb_saved_launcher *launcher_at(
	const struct tkb_bundle *bundle, size_t index)
{
	return index < tkb_bundle_launcher_count(bundle)
	               ? tkb_bundle_launcher(bundle, index)
	               : NULL;
}

/*
 * Walk through both lists at the same time: bundles sort launchers by cache
 * key.
 */
static void match_launchers(const struct tkb_bundle *a,
                            const struct tkb_bundle *b,
                            struct diff_launchers *out)
{
	const struct tkb_saved_launcher *left = launcher_at(a, 0);
	const struct tkb_saved_launcher *right = launcher_at(b, 0);
	size_t i = 0;
	size_t j = 0;

	while (left != NULL || right != NULL) {
		struct diff_launcher *const item = &out->items[out->count];
		int order = left == NULL ? 1 : -1;

		if (left != NULL && right != NULL)
			order = strcmp(left->cache_key, right->cache_key);

		item->a = order <= 0 ? left : NULL;
		item->b = order >= 0 ? right : NULL;
		item->state = state_of(item->a, item->b);
		out->counts[item->state]++;
		out->count++;

		if (order <= 0)
			left = launcher_at(a, ++i);
		if (order >= 0)
			right = launcher_at(b, ++j);
	}
}

int diff_launchers(const struct source *a, const struct source *b,
                   struct diff_launchers *out, struct tkb_error *err)
{
	if (a->bundle == NULL || b->bundle == NULL)
		return 0;

	out->items = calloc(tkb_bundle_launcher_count(a->bundle) +
	                            tkb_bundle_launcher_count(b->bundle) + 1,
	                    sizeof(*out->items));
	if (out->items == NULL)
		return cli_error_nomem(err);

	match_launchers(a->bundle, b->bundle, out);
	return 0;
}

void diff_launchers_release(struct diff_launchers *launchers)
{
	free(launchers->items);
	*launchers = (struct diff_launchers){ .count = 0 };
}

static void print_details(FILE *to, const struct tkb_saved_launcher *a,
                          const struct tkb_saved_launcher *b)
{
	if (strcmp(a->name, b->name) != 0)
		text_line(to, "    name     %s -> %s", a->name, b->name);
	if (!same_needs(a, b))
		text_line(to, "    needs    %s of %zu -> %s of %zu%s",
		          tkb_need_name(a->need), a->need_count,
		          tkb_need_name(b->need), b->need_count,
		          a->need_count == b->need_count ? ", not the same"
		                                         : "");
	if (a->size != b->size)
		text_line(to, "    payload  %" PRIu64 " -> %" PRIu64 " bytes",
		          a->size, b->size);
	else if (!same_payload(a, b))
		text_line(to, "    payload  %" PRIu64 " bytes, not the same",
		          a->size);
}

void diff_launchers_print(FILE *to, const struct diff_launchers *launchers)
{
	static const char signs[] = {
		[DIFF_DIFFERS] = '~', [DIFF_ONLY_A] = '-', [DIFF_ONLY_B] = '+'
	};

	for (size_t i = 0; i < launchers->count; i++) {
		const struct diff_launcher *const item = &launchers->items[i];
		const struct tkb_saved_launcher *const a = item->a;
		const struct tkb_saved_launcher *const b = item->b;
		const struct tkb_saved_launcher *const launcher =
			a != NULL ? a : b;

		if (item->state == DIFF_EQUAL)
			continue;
		text_line(to, "%c launcher %s of %s, %" PRIu64 " bytes",
		          signs[item->state], launcher->cache_key,
		          launcher->name, launcher->size);
		if (a != NULL && b != NULL)
			print_details(to, a, b);
	}
}

static void put_state(struct json_out *json, const char *name,
                      const struct diff_launchers *launchers,
                      enum diff_state state)
{
	json_out_open_array(json, name);
	for (size_t i = 0; i < launchers->count; i++) {
		const struct diff_launcher *const item = &launchers->items[i];

		if (item->state == state)
			json_out_text(json, NULL,
			              item->a != NULL ? item->a->cache_key
			                              : item->b->cache_key);
	}
	json_out_close(json);
}

static void put_side(struct json_out *json, const char *name,
                     const struct tkb_saved_launcher *launcher)
{
	json_out_open_object(json, name);
	json_out_text(json, "name", launcher->name);
	json_out_text(json, "need", tkb_need_name(launcher->need));
	json_out_open_array(json, "needs");
	for (size_t i = 0; i < launcher->need_count; i++)
		json_out_text(json, NULL, launcher->needs[i]);
	json_out_close(json);
	json_out_number(json, "size", launcher->size);
	entry_out_digest(json, "sha256", &launcher->digest);
	json_out_close(json);
}

void diff_launchers_json(struct json_out *json,
                         const struct diff_launchers *launchers)
{
	if (launchers->items == NULL)
		return;

	json_out_open_object(json, "launchers");
	put_state(json, "only_a", launchers, DIFF_ONLY_A);
	put_state(json, "only_b", launchers, DIFF_ONLY_B);
	json_out_open_array(json, "differ");
	for (size_t i = 0; i < launchers->count; i++) {
		const struct diff_launcher *const item = &launchers->items[i];

		if (item->state != DIFF_DIFFERS)
			continue;
		json_out_open_object(json, NULL);
		json_out_text(json, "cache_key", item->a->cache_key);
		put_side(json, "a", item->a);
		put_side(json, "b", item->b);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_number(json, "equal_count", launchers->counts[DIFF_EQUAL]);
	json_out_close(json);
}
