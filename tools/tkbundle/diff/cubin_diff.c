/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/cubin_diff.h"

#include <stdlib.h>
#include <string.h>

#include "cli/auto.h"

struct part {
	char *name;   /* owned */
	size_t index; /* in the file's order */
	struct tkb_bytes bytes;
};

/* The parts of one cubin. */
struct parts {
	struct part *items; /* owned */
	size_t count;
};

static int no_memory(struct tkb_error *err)
{
	if (err != NULL)
		*err = (struct tkb_error){ .status = TKB_ERR_NOMEM,
			                   .message = "out of memory" };
	return TKB_ERR_NOMEM;
}

static void release_parts(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->items[i].name);
	free(parts->items);
}

static int keep_part(void *self, const struct tkb_cubin_part *part,
                     struct tkb_error *err)
{
	struct parts *const parts = self;
	struct part *const items =
		table_grow(parts->items, parts->count, sizeof(*items));

	if (items == NULL)
		return no_memory(err);
	parts->items = items;
	items[parts->count] = (struct part){ .name = strdup(part->name),
		                             .index = parts->count,
		                             .bytes = part->bytes };
	if (items[parts->count].name == NULL)
		return no_memory(err);
	parts->count++;
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *const left = a;
	const struct part *const right = b;
	const int order = strcmp(left->name, right->name);

	if (order != 0)
		return order;
	return (left->index > right->index) - (left->index < right->index);
}

static int take_apart(struct tkb_bytes bytes, const char *name,
                      struct parts *out, struct tkb_error *err)
{
	const struct tkb_cubin_visitor visitor = { .on_part = keep_part,
		                                   .self = out };
	int rc = tkb_cubin_parts(bytes, name, &visitor, err);

	if (rc == 0 && out->count > 0)
		qsort(out->items, out->count, sizeof(*out->items),
		      compare_parts);
	return rc;
}

/* Count the bytes that differ; bytes that only the longer one has differ. */
static struct cubin_diff_part compare_bytes(struct tkb_bytes a,
                                            struct tkb_bytes b)
{
	const size_t common = a.size < b.size ? a.size : b.size;
	const size_t longer = a.size < b.size ? b.size : a.size;
	const char *const left = a.data;
	const char *const right = b.data;
	struct cubin_diff_part part = { .state = CUBIN_DIFFERS,
		                        .a_size = a.size,
		                        .b_size = b.size,
		                        .different = longer - common,
		                        .first = common };

	if (common > 0 && memcmp(left, right, common) == 0)
		return part;

	for (size_t i = common; i > 0; i--) {
		if (left[i - 1] != right[i - 1]) {
			part.different++;
			part.first = i - 1;
		}
	}

	return part;
}

/*
 * Compare two parts with the same name; one of them may be NULL. `out` has
 * room.
 */
static int add_section(struct cubin_diff *out, const struct part *a,
                       const struct part *b, struct tkb_error *err)
{
	static const struct tkb_bytes nothing = { .size = 0 };
	struct cubin_diff_part part = compare_bytes(
		a != NULL ? a->bytes : nothing, b != NULL ? b->bytes : nothing);

	if (a != NULL && b != NULL && part.different == 0)
		return 0;

	if (a == NULL || b == NULL)
		part.state = a != NULL ? CUBIN_ONLY_A : CUBIN_ONLY_B;
	part.name = strdup(a != NULL ? a->name : b->name);
	if (part.name == NULL)
		return no_memory(err);

	out->parts[out->count] = part;
	out->count++;
	return 0;
}

/* Walk through both sorted lists at the same time. */
static int compare_lists(const struct parts *a, const struct parts *b,
                         struct cubin_diff *out, struct tkb_error *err)
{
	size_t i = 0;
	size_t j = 0;
	int rc = 0;

	while (rc == 0 && (i < a->count || j < b->count)) {
		const struct part *left = i < a->count ? &a->items[i] : NULL;
		const struct part *right = j < b->count ? &b->items[j] : NULL;

		if (left != NULL && right != NULL) {
			const int order = strcmp(left->name, right->name);

			left = order <= 0 ? left : NULL;
			right = order >= 0 ? right : NULL;
		}
		i += left != NULL ? 1 : 0;
		j += right != NULL ? 1 : 0;
		rc = add_section(out, left, right, err);
	}

	return rc;
}

static int compare_whole(struct tkb_bytes a, struct tkb_bytes b,
                         struct cubin_diff *out, struct tkb_error *err)
{
	struct cubin_diff_part whole = compare_bytes(a, b);

	if (whole.different == 0)
		return 0;

	whole.name = strdup(CUBIN_DIFF_HEADERS);
	if (whole.name == NULL)
		return no_memory(err);

	out->parts[0] = whole;
	out->count = 1;
	return 0;
}

int cubin_diff_compare(struct tkb_bytes a, struct tkb_bytes b, const char *name,
                       struct cubin_diff *out, struct tkb_error *err)
{
	TKB_AUTO(release_parts) struct parts a_parts = { .count = 0 };
	TKB_AUTO(release_parts) struct parts b_parts = { .count = 0 };
	TKB_AUTO(cubin_diff_release) struct cubin_diff diff = { .count = 0 };
	int rc;

	rc = take_apart(a, name, &a_parts, err);
	if (rc == 0)
		rc = take_apart(b, name, &b_parts, err);
	if (rc != 0)
		return rc;

	diff.parts =
		calloc(a_parts.count + b_parts.count + 1, sizeof(*diff.parts));
	if (diff.parts == NULL)
		return no_memory(err);

	rc = compare_lists(&a_parts, &b_parts, &diff, err);
	if (rc == 0 && diff.count == 0)
		rc = compare_whole(a, b, &diff, err);
	if (rc != 0)
		return rc;

	*out = diff;
	diff = (struct cubin_diff){ .count = 0 };
	return 0;
}

void cubin_diff_release(struct cubin_diff *diff)
{
	for (size_t i = 0; i < diff->count; i++)
		free(diff->parts[i].name);
	free(diff->parts);
	*diff = (struct cubin_diff){ .count = 0 };
}
