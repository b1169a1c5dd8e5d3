/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "diff/diff_facts.h"

/* An entry of one source. */
struct item {
	const struct tkb_entry *entry;
	size_t index;
	bool is_taken; /* it has a partner */
};

/* The entries of one source; those with the same identity follow each other. */
struct side {
	struct item *items; /* owned */
	size_t count;
};

static void release_side(struct side *side)
{
	free(side->items);
}

static int compare_identity(const struct tkb_entry *a,
                            const struct tkb_entry *b)
{
	const int order = strcmp(a->key, b->key);

	return order != 0 ? order : strcmp(a->platform, b->platform);
}

static int compare_diff_items(const void *a, const void *b)
{
	const struct item *const left = a;
	const struct item *const right = b;
	const int order = compare_identity(left->entry, right->entry);

	if (order != 0)
		return order;
	return (left->index > right->index) - (left->index < right->index);
}

static bool sort_side(const struct source *source, struct side *out)
{
	out->count = source_entry_count(source);
	out->items = calloc(out->count + 1, sizeof(*out->items));
	if (out->items == NULL)
		return false;

	for (size_t i = 0; i < out->count; i++)
		out->items[i] = (struct item){ .entry = source_entry(source, i),
			                       .index = i };
	qsort(out->items, out->count, sizeof(*out->items), compare_diff_items);
	return true;
}

/*
 * The index after the last item with the same identity as the one at `begin`.
 */
static size_t end_of_identity(const struct side *side, size_t begin)
{
	size_t end = begin;

	while (end < side->count &&
	       compare_identity(side->items[begin].entry,
	                        side->items[end].entry) == 0)
		end++;
	return end;
}

static bool share_device(const struct tkb_entry *a, const struct tkb_entry *b)
{
	size_t i = 0;
	size_t j = 0;

	while (i < a->device_count && j < b->device_count) {
		if (a->devices[i] == b->devices[j])
			return true;
		if (a->devices[i] < b->devices[j])
			i++;
		else
			j++;
	}

	return false;
}

static bool same_file(const struct tkb_file *a, const struct tkb_file *b)
{
	return a->size == b->size && a->style == b->style &&
	       a->is_executable == b->is_executable &&
	       a->is_last == b->is_last &&
	       memcmp(&a->digest, &b->digest, sizeof(a->digest)) == 0;
}

static size_t find_entry_file(const struct tkb_entry *entry, const char *name)
{
	size_t index = 0;

	while (index < entry->file_count &&
	       strcmp(entry->files[index].name, name) != 0)
		index++;
	return index;
}

const struct tkb_entry *diff_entry(const struct diff_pair *pair)
{
	return pair->a != NULL ? pair->a : pair->b;
}

bool diff_next_file(const struct diff_pair *pair, size_t *at,
                    struct diff_file *out)
{
	const struct tkb_entry *const a = pair->a;
	const struct tkb_entry *const b = pair->b;

	for (; *at < a->file_count + b->file_count; (*at)++) {
		const bool is_a = *at < a->file_count;
		const struct tkb_file *const at_hand =
			is_a ? &a->files[*at] : &b->files[*at - a->file_count];
		struct diff_file file = { .name = at_hand->name };

		file.a_index = find_entry_file(a, file.name);
		file.b_index = find_entry_file(b, file.name);
		file.a = file.a_index < a->file_count ? &a->files[file.a_index]
		                                      : NULL;
		file.b = file.b_index < b->file_count ? &b->files[file.b_index]
		                                      : NULL;
		if (file.a != NULL && file.b != NULL &&
		    (!is_a || same_file(file.a, file.b)))
			continue;

		*out = file;
		(*at)++;
		return true;
	}

	return false;
}

static struct diff_pair compare_entries(const struct item *a,
                                        const struct item *b)
{
	struct diff_pair pair = { .a = a->entry,
		                  .b = b->entry,
		                  .a_index = a->index,
		                  .b_index = b->index };
	struct diff_file file;
	size_t at = 0;

	pair.facts = diff_facts_compare(pair.a, pair.b);
	if (pair.facts != 0 || diff_next_file(&pair, &at, &file))
		pair.state = DIFF_DIFFERS;
	return pair;
}

static void add_diff_pair(struct diff *diff, struct item *a, struct item *b)
{
	struct diff_pair *const pair = &diff->pairs[diff->count];

	if (b == NULL)
		*pair = (struct diff_pair){ .a = a->entry,
			                    .a_index = a->index,
			                    .state = DIFF_ONLY_A };
	else if (a == NULL)
		*pair = (struct diff_pair){ .b = b->entry,
			                    .b_index = b->index,
			                    .state = DIFF_ONLY_B };
	else
		*pair = compare_entries(a, b);

	if (a != NULL)
		a->is_taken = true;
	if (b != NULL)
		b->is_taken = true;
	diff->count++;
	diff->counts[pair->state]++;
}

/* The first item from `begin` on that has no partner; NULL if all have. */
static struct item *first_free(const struct side *side, size_t begin,
                               size_t end)
{
	for (size_t i = begin; i < end; i++) {
		if (!side->items[i].is_taken)
			return &side->items[i];
	}

	return NULL;
}

/* Pair the items of an identity that both sides have. */
static void match_identity(struct diff *diff, const struct side *a,
                           const size_t a_range[2], const struct side *b,
                           const size_t b_range[2])
{
	for (size_t i = a_range[0]; i < a_range[1]; i++) {
		for (size_t j = b_range[0]; j < b_range[1]; j++) {
			if (!a->items[i].is_taken && !b->items[j].is_taken &&
			    share_device(a->items[i].entry, b->items[j].entry))
				add_diff_pair(diff, &a->items[i], &b->items[j]);
		}
	}

	for (size_t i = a_range[0]; i < a_range[1]; i++) {
		struct item *const left = &a->items[i];

		if (!left->is_taken)
			add_diff_pair(diff, left,
			              first_free(b, b_range[0], b_range[1]));
	}
	for (size_t j = b_range[0]; j < b_range[1]; j++) {
		if (!b->items[j].is_taken)
			add_diff_pair(diff, NULL, &b->items[j]);
	}
}

/* Walk through both sorted sides, one identity after another. */
static void match_entries(struct diff *diff, const struct side *a,
                          const struct side *b)
{
	size_t a_range[2] = { 0, 0 };
	size_t b_range[2] = { 0, 0 };

	while (a_range[0] < a->count || b_range[0] < b->count) {
		int order = 0;

		if (a_range[0] == a->count)
			order = 1;
		else if (b_range[0] == b->count)
			order = -1;
		else
			order = compare_identity(a->items[a_range[0]].entry,
			                         b->items[b_range[0]].entry);

		a_range[1] = order <= 0 ? end_of_identity(a, a_range[0])
		                        : a_range[0];
		b_range[1] = order >= 0 ? end_of_identity(b, b_range[0])
		                        : b_range[0];
		match_identity(diff, a, a_range, b, b_range);
		a_range[0] = a_range[1];
		b_range[0] = b_range[1];
	}
}

/*
 * Sort by kind, name, key, platform and first device, like entries in a bundle.
 */
static int compare_diff_pairs(const void *a, const void *b)
{
	const struct diff_pair *const left = a;
	const struct diff_pair *const right = b;
	const struct tkb_entry *const one = diff_entry(left);
	const struct tkb_entry *const other = diff_entry(right);
	int order = (one->kind > other->kind) - (one->kind < other->kind);

	if (order == 0)
		order = strcmp(one->name, other->name);
	if (order == 0)
		order = compare_identity(one, other);
	if (order == 0)
		order = (one->devices[0] > other->devices[0]) -
		        (one->devices[0] < other->devices[0]);
	if (order == 0)
		order = (left->state > right->state) -
		        (left->state < right->state);
	return order;
}

int diff_sources(const struct source *a, const struct source *b,
                 struct diff *out, struct tkb_error *err)
{
	TKB_AUTO(release_side) struct side a_side = { .count = 0 };
	TKB_AUTO(release_side) struct side b_side = { .count = 0 };
	struct diff diff = { .count = 0 };

	if (!sort_side(a, &a_side) || !sort_side(b, &b_side))
		return cli_error_nomem(err);

	diff.pairs =
		calloc(a_side.count + b_side.count + 1, sizeof(*diff.pairs));
	if (diff.pairs == NULL)
		return cli_error_nomem(err);

	match_entries(&diff, &a_side, &b_side);
	qsort(diff.pairs, diff.count, sizeof(*diff.pairs), compare_diff_pairs);
	*out = diff;
	return 0;
}

void diff_release(struct diff *diff)
{
	free(diff->pairs);
	*diff = (struct diff){ .count = 0 };
}
