/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/maintain/gc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "emit/hold.h"
#include "emit/unit.h"
#include "tree/locks.h"
#include "tree/unit.h"

/*
 * What names what
 */

/* The first `length` bytes of `path` in `tree`: perhaps the name of a unit. */
struct start {
	const char *tree;
	const char *path;
	size_t length;
};

static int compare_start(const void *key, const void *item)
{
	const struct start *start = key;
	const struct tkb_gc_unit *unit = item;
	const struct tkb_entry *entry = &unit->found->entry;
	int order = strcmp(start->tree, entry->tree);

	if (order == 0)
		order = strncmp(start->path, entry->name, start->length);
	return order != 0 ? order : -(entry->name[start->length] != '\0');
}

static int compare_units(const void *a, const void *b)
{
	const struct tkb_entry *left =
		&((const struct tkb_gc_unit *)a)->found->entry;
	const struct tkb_entry *right =
		&((const struct tkb_gc_unit *)b)->found->entry;
	const int order = strcmp(left->tree, right->tree);

	return order != 0 ? order : strcmp(left->name, right->name);
}

/* Find the unit whose name is the first `length` bytes of `path`; or NULL. */
static struct tkb_gc_unit *find_unit(const struct tkb_gc *gc, const char *tree,
                                     const char *path, size_t length)
{
	const struct start start = { tree, path, length };

	return bsearch(&start, gc->units, gc->unit_count, sizeof(*gc->units),
	               compare_start);
}

/* Note that unit `index` has a text that names unit `named`. */
static int add_naming(struct tkb_gc *gc, const struct tkb_gc_unit *index,
                      const struct tkb_gc_unit *named, struct tkb_error *err)
{
	const struct tkb_gc_naming naming = {
		.index = (size_t)(index - gc->units),
		.named = (size_t)(named - gc->units),
	};

	if (named == index)
		return 0;
	if (gc->naming_count != 0 && memcmp(&gc->namings[gc->naming_count - 1],
	                                    &naming, sizeof(naming)) == 0)
		return 0;
	return tkb_append(&gc->namings, &gc->naming_count, &gc->naming_capacity,
	                  &naming, sizeof(naming), err);
}

static bool ends_path(char c)
{
	return (unsigned char)c <= ' ' || strchr("/'\"`:,;)]}>|&", c) != NULL;
}

/*
 * Note the unit that `path` of `tree` is, or is in. What ends a path may also be
 * a part of a name, so look for a unit at each end.
 */
static int add_namings(struct tkb_gc *gc, const struct tkb_gc_unit *index,
                       const char *tree, const char *path,
                       struct tkb_error *err)
{
	const size_t end = strlen(path);
	int rc = 0;

	for (size_t i = 1; i <= end && rc == 0; i++) {
		const struct tkb_gc_unit *named =
			ends_path(path[i]) ? find_unit(gc, tree, path, i)
					   : NULL;

		if (named != NULL)
			rc = add_naming(gc, index, named, err);
	}
	return rc;
}

/*
 * Find the paths that `text` names: "[REPLACE:<tree>]/<path>", or with
 * ":<style>" after the tree.
 */
static int read_names(struct tkb_gc *gc, const struct tkb_gc_unit *unit,
                      struct tkb_bytes text, struct tkb_error *err)
{
	static const char begin[] = "[REPLACE:";
	const char *at = text.data;
	const char *end = at + text.size;
	char tree[TKB_TREE_NAME_LIMIT + 1];
	char path[TKB_UNIT_PATH_LIMIT + 2]; /* with the byte after a name */
	int rc = 0;

	while (rc == 0 && (at = memmem(at, (size_t)(end - at), begin,
	                               strlen(begin))) != NULL) {
		size_t length = 0;

		at += strlen(begin);
		while (at < end && *at != ']' && *at != ':' &&
		       length < sizeof(tree) - 1)
			tree[length++] = *at++;
		tree[length] = '\0';
		while (at < end && *at != ']')
			at++;
		if (end - at < 2 || at[1] != '/')
			continue;
		at += 2;
		for (length = 0; at + length < end &&
		                 (unsigned char)at[length] >= ' ' &&
		                 length < sizeof(path) - 1;)
			length++;
		memcpy(path, at, length);
		path[length] = '\0';
		rc = add_namings(gc, unit, tree, path, err);
	}
	return rc;
}

static int compare_namings(const void *a, const void *b)
{
	const struct tkb_gc_naming *left = a;
	const struct tkb_gc_naming *right = b;

	if (left->named != right->named)
		return left->named < right->named ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

/* The index of the first naming of unit `named`, if it has one. */
static size_t first_naming(const struct tkb_gc *gc, size_t named)
{
	const struct tkb_gc_naming first = { .index = 0, .named = named };

	return tkb_lower_bound(&first, gc->namings, gc->naming_count,
	                       sizeof(first), compare_namings);
}

static int list_units(struct tkb_gc *gc, struct tkb_error *err)
{
	gc->units = tkb_alloc_array(gc->item_count, sizeof(*gc->units));
	if (gc->units == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < gc->item_count; i++) {
		if (gc->items[i].found->entry.kind == TKB_KIND_UNIT)
			gc->units[gc->unit_count++] = (struct tkb_gc_unit){
				.found = gc->items[i].found, .item = i
			};
	}
	tkb_sort(gc->units, gc->unit_count, sizeof(*gc->units), compare_units);
	return 0;
}

/*
 * Make each unit at least as young as the units that name it, directly or
 * through others. Among units of the same age, `rank` puts a named unit after
 * those that name it.
 */
static void pass_on_uses(struct tkb_gc *gc)
{
	bool is_changed = gc->naming_count != 0;

	for (size_t i = 0; i < gc->unit_count && is_changed; i++) {
		is_changed = false;
		for (size_t j = 0; j < gc->naming_count; j++) {
			const struct tkb_gc_naming *naming = &gc->namings[j];
			const struct tkb_gc_item *index =
				&gc->items[gc->units[naming->index].item];
			struct tkb_gc_item *named =
				&gc->items[gc->units[naming->named].item];

			if (named->last_ns < index->last_ns) {
				named->last_ns = index->last_ns;
				is_changed = true;
			}
			if (named->rank <= index->rank) {
				named->rank = index->rank + 1;
				is_changed = true;
			}
		}
	}
}

int tkb_gc_bind_units(struct tkb_gc *gc, struct tkb_error *err)
{
	int rc;

	rc = list_units(gc, err);
	for (size_t i = 0; i < gc->unit_count && rc == 0; i++) {
		const struct tkb_scanned_entry *found = gc->units[i].found;

		for (size_t j = 0; j < found->entry.file_count && rc == 0; j++)
			rc = found->files[j].sentinels == 0
			             ? 0
			             : read_names(gc, &gc->units[i],
			                          found->loaded[j].bytes, err);
	}
	if (rc < 0)
		return rc;
	tkb_sort(gc->namings, gc->naming_count, sizeof(*gc->namings),
	         compare_namings);
	pass_on_uses(gc);
	return 0;
}

void tkb_gc_index_units(struct tkb_gc *gc)
{
	for (size_t i = 0; i < gc->item_count; i++) {
		const struct tkb_entry *entry = &gc->items[i].found->entry;

		if (entry->kind == TKB_KIND_UNIT)
			find_unit(gc, entry->tree, entry->name,
			          strlen(entry->name))
				->item = i;
	}
}

/*
 * Who works there
 */

static int check_watch(void *self, struct tkb_error *err)
{
	struct tkb_gc *gc = self;

	return tkb_watcher_check(&gc->batch.watcher, err);
}

int tkb_gc_look_at_trees(struct tkb_gc *gc, struct tkb_error *err)
{
	const struct tkb_roots *roots = &gc->cache->roots;
	int rc;

	gc->trees = tkb_alloc_array(roots->count, sizeof(*gc->trees));
	if (gc->trees == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < roots->count; i++) {
		const struct tkb_root *root = &roots->items[i];
		struct tkb_gc_tree *tree = &gc->trees[i];

		if (root->tree == NULL || root->fd < 0)
			continue;
		rc = tkb_tree_find_lock(root->path, check_watch, gc, tree->lock,
		                        err);
		if (rc < 0)
			return rc;
		tree->is_locked = rc == 0;
		tree->is_held = tkb_hold_is_there(&gc->batch.stages[i],
		                                  &tree->since_ns);
		/* Without access times, any unit may be in use. */
		tree->since_ns = gc->has_times[i]
		                         ? tree->since_ns - TKB_GC_RELATIME_NS
		                         : INT64_MIN;
	}
	return 0;
}

/* Fail if a unit that names this one stays. */
static int check_indexes(const struct tkb_gc *gc,
                         const struct tkb_gc_item *item, struct tkb_error *err)
{
	const struct tkb_entry *entry = &item->found->entry;
	const struct tkb_gc_unit *unit =
		find_unit(gc, entry->tree, entry->name, strlen(entry->name));
	const size_t number = unit == NULL ? 0 : (size_t)(unit - gc->units);

	for (size_t i = first_naming(gc, number);
	     i < gc->naming_count && gc->namings[i].named == number; i++) {
		const struct tkb_gc_item *index =
			&gc->items[gc->units[gc->namings[i].index].item];

		if (!index->is_gone)
			return tkb_fail_entry(err, TKB_REASON_BUSY,
			                      "'%.200s' names it, and stays",
			                      index->found->entry.name);
	}
	return 0;
}

int tkb_gc_check_unit(const struct tkb_gc *gc, const struct tkb_gc_item *item,
                      struct tkb_loader *loader, struct tkb_error *err)
{
	const struct tkb_gc_tree *tree =
		&gc->trees[tkb_cache_root_of(gc->cache, item->found)];
	const int64_t last_ns = item->use.used_ns > item->use.written_ns
	                                ? item->use.used_ns
	                                : item->use.written_ns;
	int rc;

	if (last_ns > gc->now_ns - TKB_GC_YOUNG_NS)
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "it was read or written in the last %d "
		                      "minutes",
		                      TKB_GC_YOUNG_MINUTES);
	if (tree->is_locked)
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "somebody holds '%.300s'", tree->lock);
	if (tree->is_held && last_ns >= tree->since_ns)
		return tkb_fail_entry(
			err, TKB_REASON_BUSY,
			"a command that tkbundle runs may use it");
	rc = check_indexes(gc, item, err);
	return rc < 0 ? rc : tkb_scanned_entry_check(loader, item->found, err);
}

/*
 * Remove
 */

static int fail_remove(const struct tkb_gc_item *item, struct tkb_error *err)
{
	return tkb_fail_errno(err, "cannot remove '%s/%s'",
	                      item->found->root->path, item->found->entry.name);
}

/*
 * Remove the files one by one; files that name others go first. If a file
 * cannot be removed, it and its folders stay.
 */
static int remove_files(const struct tkb_gc_item *item, struct tkb_error *err)
{
	const struct tkb_entry *unit = &item->found->entry;
	const char *folder = tkb_root_folder(item->found->root, unit);
	TKB_AUTO(tkb_fd_close_at)
	int dir = tkb_fd_open_below(item->found->root->fd, folder,
	                            O_RDONLY | O_DIRECTORY);

	if (dir < 0)
		return errno == ENOENT ? 0 : fail_remove(item, err);
	for (size_t i = 0; i < 2 * unit->file_count; i++) {
		const struct tkb_file *file =
			&unit->files[i % unit->file_count];

		if (file->is_last != (i < unit->file_count))
			continue;
		if (unlinkat(dir, file->name, 0) < 0 && errno != ENOENT)
			return fail_remove(item, err);
	}
	(void)unlinkat(item->found->root->fd, folder, AT_REMOVEDIR);
	return 0;
}

/* Remove a unit from its tree. The root's lock is held. */
static int take_away(const struct tkb_gc_item *item, struct tkb_stage *stage,
                     struct tkb_loader *loader, size_t index,
                     struct tkb_error *err)
{
	const struct tkb_entry *unit = &item->found->entry;
	char staged[TKB_STAGE_NUMBER_SIZE];
	const char *name = NULL;
	const int parent = tkb_unit_find_parent(
		&loader->parent, stage->root->fd, NULL,
		tkb_unit_names_here(item->found->root->names, unit->name, NULL),
		&name);

	if (parent < 0)
		return errno == ENOENT ? TKB_MISS : fail_remove(item, err);
	if (tkb_unit_is_file(unit))
		return unlinkat(parent, name, 0) == 0 ? 0
		       : errno == ENOENT              ? TKB_MISS
		                                      : fail_remove(item, err);
	if (stage->fd < 0)
		return remove_files(item, err);
	tkb_stage_format_number(index, staged);
	if (renameat(parent, name, stage->fd, staged) == 0)
		return 0;
	return errno == ENOENT ? TKB_MISS : fail_remove(item, err);
}

int tkb_gc_remove_unit(struct tkb_gc *gc, size_t index,
                       struct tkb_loader *loader, struct tkb_error *err)
{
	struct tkb_stage *stage = &gc->batch.stages[gc->batch.jobs[index].root];
	const struct tkb_gc_item *item = &gc->items[index];
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	int rc;

	/* Earlier the disk may have been too full for a stage: try again. */
	if (stage->fd < 0 && tkb_stage_open(stage, NULL) == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	rc = tkb_stage_lock(stage, &lock, err);
	if (rc == TKB_ERR_CANCELLED)
		return rc;
	rc = tkb_gc_check_unit(gc, item, loader, err);
	return rc != 0 ? rc : take_away(item, stage, loader, index, err);
}
