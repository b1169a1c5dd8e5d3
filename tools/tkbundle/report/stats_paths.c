/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats_paths.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "config/paths.h"

struct search {
	const struct source *source;
	struct stats *stats;
	struct path_table *table;
	struct stats_tree *tree; /* the current entry, or NULL */
	bool has_roots;          /* the file belongs to a unit, with paths of
	                            trees */
	size_t entry;            /* the entry whose path is `own` */
	struct tkb_memory own;   /* its path, as in its group file */
};

static void release_search(struct search *search)
{
	tkb_memory_release(&search->own);
}

/* Is it below the root of a tree, which collect replaces? */
static bool is_below_tree(const struct search *search, struct tkb_bytes path)
{
	const char *const text = path.data;

	for (size_t i = 0; i < search->source->tree_count; i++) {
		const char *const root = search->source->trees[i].path;
		const size_t size = strlen(root);

		if (size < path.size && memcmp(text, root, size) == 0 &&
		    text[size] == '/')
			return true;
	}
	return false;
}

static int search_bytes(struct search *search, struct stats_type *type,
                        struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_bytes path;
	size_t at = 0;

	while (paths_next(bytes, &at, &path)) {
		if (search->has_roots && is_below_tree(search, path)) {
			type->own_count++;
			continue;
		}
		if (!path_table_add(search->table, path))
			return cli_error_nomem(err);
		type->path_count++;
		if (search->tree != NULL)
			search->tree->path_count++;
	}

	return 0;
}

/* Collect replaces the entry's own path only in JSON files. */
static int search_json(struct search *search, struct stats_type *type,
                       struct tkb_bytes json, struct tkb_error *err)
{
	const struct tkb_bytes own = { search->own.data, search->own.size };
	struct tkb_bytes part;
	size_t at = 0;
	bool has_more;
	int rc;

	do {
		has_more = paths_next_own(json, own, &at, &part);
		type->own_count += has_more ? 1 : 0;
		rc = search_bytes(search, type, part, err);
	} while (rc == 0 && has_more);

	return rc;
}

/*
 * Read the entry's own path from its group file, which may not be the first
 * file.
 */
static int find_own(struct search *search, size_t index, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory group = { .size = 0 };
	const struct tkb_entry *const entry =
		source_entry(search->source, index);
	const struct tkb_sink sink = tkb_memory_sink(&search->own);
	struct tkb_bytes own = { .size = 0 };
	int rc = 0;

	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		if (!source_is_group(entry->files[i].name))
			continue;
		rc = source_read_file(search->source, index, i, &group, err);
		if (rc == 0)
			own = paths_own(source_bytes(&group), entry->key);
	}
	if (rc != 0)
		return rc;

	search->entry = index;
	search->own.size = 0;
	return sink.write(sink.self, own, err);
}

static int search_file(void *self, size_t index, size_t file,
                       struct tkb_bytes bytes, struct tkb_error *err)
{
	struct search *const search = self;
	const struct tkb_entry *const entry =
		source_entry(search->source, index);
	const char *const name = entry->files[file].name;
	struct stats_type *const type = stats_find_type(search->stats, name);
	int rc = 0;

	search->tree = stats_find_tree(search->stats, entry);
	search->has_roots =
		search->tree != NULL && entry->files[file].sentinels > 0;
	/* A bundle has sentinels in place of these paths. */
	if (search->source->cache == NULL || search->tree != NULL ||
	    !text_ends_with(name, ".json"))
		return search_bytes(search, type, bytes, err);

	if (search->entry != index)
		rc = find_own(search, index, err);
	return rc == 0 ? search_json(search, type, bytes, err) : rc;
}

int stats_paths(const struct source *source, struct stats *stats,
                struct path_table *table, struct tkb_error *err)
{
	TKB_AUTO(release_search)
	struct search search = { .source = source,
		                 .stats = stats,
		                 .table = table,
		                 .entry = SIZE_MAX };
	const struct tkb_file_visitor visitor = { .on_file = search_file,
		                                  .self = &search };
	int rc = source_read_all(source, &visitor, err);

	path_table_sort(table);
	return rc;
}
