/* SPDX-License-Identifier: Apache-2.0 */
#include "format/merge_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "tree/unit.h"

/*
 * A unit that is inside another one: a file in one cache may be a folder in
 * another, and a newer profile may pack as one unit what were several. Readers
 * refuse a bundle with both.
 */

/* The units that are used so far, by tree and name. */
struct units {
	const struct tkb_merge_item **items;
	size_t count;
};

static int compare_names(const void *a, const void *b)
{
	const struct tkb_merge_item *const *left = a;
	const struct tkb_merge_item *const *right = b;
	const int order = strcmp((*left)->entry.tree, (*right)->entry.tree);

	return order != 0 ? order
	                  : strcmp((*left)->entry.name, (*right)->entry.name);
}

/*
 * Is an earlier bundle's unit used whose name is `name`, or, if that ends with a
 * slash, begins with it?
 */
static bool is_used(const struct units *units,
                    const struct tkb_merge_item *item, const char *name)
{
	const size_t length = strlen(name);
	const bool is_start = name[length - 1] == '/';
	const struct tkb_merge_item wanted = {
		.entry = { .tree = item->entry.tree, .name = name }
	};
	const struct tkb_merge_item *const key = &wanted;

	for (size_t i = tkb_lower_bound(&key, units->items, units->count,
	                                sizeof(*units->items), compare_names);
	     i < units->count; i++) {
		const struct tkb_merge_item *other = units->items[i];

		if (strcmp(other->entry.tree, item->entry.tree) != 0 ||
		    (is_start ? strncmp(other->entry.name, name, length)
		              : strcmp(other->entry.name, name)) != 0)
			return false;
		if (other->counts && other->bundle < item->bundle)
			return true;
	}
	return false;
}

static bool has_conflict(const struct units *units,
                         const struct tkb_merge_item *item)
{
	const char *name = item->entry.name;
	char path[TKB_UNIT_PATH_LIMIT + sizeof("/")];

	for (const char *slash = strchr(name, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		(void)snprintf(path, sizeof(path), "%.*s", (int)(slash - name),
		               name);
		if (is_used(units, item, path))
			return true;
	}
	(void)snprintf(path, sizeof(path), "%s/", name);
	return is_used(units, item, path);
}

int tkb_merge_drop_nested(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	const struct tkb_merge_item **items =
		tkb_alloc_array(plan->item_count, sizeof(*items));
	struct units units = { .items = items };

	if (items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < plan->item_count; i++) {
		if (plan->items[i].counts &&
		    plan->items[i].entry.kind == TKB_KIND_UNIT)
			items[units.count++] = &plan->items[i];
	}
	tkb_sort(items, units.count, sizeof(*items), compare_names);
	for (size_t i = 0; i < plan->item_count; i++) {
		struct tkb_merge_item *item = &plan->items[i];

		if (!item->counts || item->entry.kind != TKB_KIND_UNIT ||
		    item->bundle == 0 || !has_conflict(&units, item))
			continue;
		item->counts = false;
		item->is_nested = true;
	}
	return 0;
}
