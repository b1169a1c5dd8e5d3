/* SPDX-License-Identifier: Apache-2.0 */
#include "report/path_table.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/auto.h"

static int compare_paths(const void *a, const void *b)
{
	const struct tkb_bytes *const left = a;
	const struct tkb_bytes *const right = b;
	const size_t common =
		left->size < right->size ? left->size : right->size;
	const int order = memcmp(left->data, right->data, common);

	if (order != 0)
		return order;
	return (left->size > right->size) - (left->size < right->size);
}

static int compare_counts(const void *a, const void *b)
{
	const struct path_count *const *const left = a;
	const struct path_count *const *const right = b;

	if ((*left)->count != (*right)->count)
		return (*left)->count > (*right)->count ? -1 : 1;
	return compare_paths(&(*left)->path, &(*right)->path);
}

static bool is_full(const struct path_table *table, size_t size)
{
	return table->count == PATH_TABLE_LIMIT ||
	       size > PATH_TABLE_SIZE_LIMIT - table->size;
}

/* @return the new item, whose count is 0, or NULL */
static struct path_count *add_path_count(struct path_table *table,
                                         struct tkb_bytes path)
{
	struct path_count **const items =
		table_grow(table->items, table->count, sizeof(*items));
	struct path_count *item;

	if (items == NULL)
		return NULL;
	table->items = items;
	item = malloc(sizeof(*item) + path.size + 1);
	if (item == NULL)
		return NULL;

	(void)memcpy(item->text, path.data, path.size);
	item->text[path.size] = '\0';
	item->path = (struct tkb_bytes){ item->text, path.size };
	item->count = 0;
	if (tsearch(&item->path, &table->root, compare_paths) == NULL) {
		free(item);
		return NULL;
	}

	table->items[table->count] = item;
	table->count++;
	table->size += path.size;
	return item;
}

bool path_table_add(struct path_table *table, struct tkb_bytes path)
{
	void *const *const node = tfind(&path, &table->root, compare_paths);
	struct path_count *item = NULL;

	/* The tree points to the first member of an item. */
	if (node != NULL)
		item = *node;
	else if (!is_full(table, path.size))
		item = add_path_count(table, path);

	if (item != NULL)
		item->count++;
	else if (is_full(table, path.size))
		table->beyond++;
	else
		return false;

	table->total++;
	return true;
}

void path_table_sort(struct path_table *table)
{
	if (table->count > 0)
		qsort(table->items, table->count, sizeof(*table->items),
		      compare_counts);
}

static void keep_item(void *item)
{
	(void)item;
}

void path_table_release(struct path_table *table)
{
	tdestroy(table->root, keep_item);
	for (size_t i = 0; i < table->count; i++)
		free(table->items[i]);
	free(table->items);
	*table = (struct path_table){ .count = 0 };
}
