/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"

static const char *extension(const char *name)
{
	const char *const dot = strrchr(name, '.');

	return dot != NULL ? dot + 1 : "";
}

/* Is it a type of file that a launch does not read? */
static bool is_dropped(const char *type)
{
	static const char *const dropped[] = { "source", "ttir", "ttgir",
		                               "llir",   "ptx",  "amdgcn" };

	return text_is_among(type, dropped, TKB_COUNT_OF(dropped));
}

static void add_to_sum(struct stats_sum *sum, uint64_t count, uint64_t size)
{
	sum->count += count;
	sum->size += size;
}

static int compare_types(const void *a, const void *b)
{
	const struct tkb_file *const *const left = a;
	const struct tkb_file *const *const right = b;

	return strcmp(extension((*left)->name), extension((*right)->name));
}

static int compare_file_digests(const void *a, const void *b)
{
	const struct tkb_file *const *const left = a;
	const struct tkb_file *const *const right = b;

	return memcmp(&(*left)->digest, &(*right)->digest,
	              sizeof((*left)->digest));
}

static int compare_name_sizes(const void *a, const void *b)
{
	const struct stats_name *const left = a;
	const struct stats_name *const right = b;

	if (left->files.size != right->files.size)
		return left->files.size > right->files.size ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return strcmp(left->name, right->name);
}

/*
 * List every file of every entry. @return a list that the caller frees, or NULL
 */
static const struct tkb_file **list_files(const struct source *source,
                                          uint64_t count)
{
	const struct tkb_file **const files =
		calloc((size_t)count + 1, sizeof(*files));
	size_t used = 0;

	for (size_t i = 0; files != NULL && i < source_entry_count(source);
	     i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		for (size_t j = 0; j < entry->file_count; j++) {
			files[used] = &entry->files[j];
			used++;
		}
	}

	return files;
}

/* Entries with the same name follow each other. */
static bool gather_names(const struct source *source, struct stats *stats)
{
	stats->names =
		calloc((size_t)stats->entry_count + 1, sizeof(*stats->names));
	if (stats->names == NULL)
		return false;

	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);
		struct stats_name *name = &stats->names[stats->name_count];

		if (i == 0 || name[-1].kind != entry->kind ||
		    strcmp(name[-1].name, entry->name) != 0) {
			*name = (struct stats_name){ .kind = entry->kind,
				                     .name = entry->name };
			stats->name_count++;
		} else {
			name--;
		}

		name->entry_count++;
		add_to_sum(&name->files, entry->file_count,
		           tkb_entry_size(entry));
	}

	qsort(stats->names, stats->name_count, sizeof(*stats->names),
	      compare_name_sizes);
	return true;
}

/* Units come after the entries, sorted by tree. */
static bool gather_trees(const struct source *source, struct stats *stats)
{
	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);
		struct stats_tree *tree = stats_find_tree(stats, entry);

		if (entry->kind != TKB_KIND_UNIT)
			continue;
		if (tree == NULL) {
			tree = table_grow(stats->trees, stats->tree_count,
			                  sizeof(*tree));
			if (tree == NULL)
				return false;
			stats->trees = tree;
			tree += stats->tree_count;
			*tree = (struct stats_tree){ .name = entry->tree };
			stats->tree_count++;
		}
		tree->unit_count++;
		add_to_sum(&tree->files, entry->file_count,
		           tkb_entry_size(entry));
	}

	return true;
}

/* Sorts `files`. */
static bool gather_types(const struct tkb_file **files, struct stats *stats)
{
	const size_t count = (size_t)stats->files.count;
	size_t type_count = 0;

	qsort(files, count, sizeof(*files), compare_types);
	for (size_t i = 0; i < count; i++)
		type_count +=
			i == 0 || compare_types(&files[i - 1], &files[i]) != 0;

	stats->types = calloc(type_count + 1, sizeof(*stats->types));
	if (stats->types == NULL)
		return false;

	for (size_t i = 0; i < count; i++) {
		struct stats_type *type;

		if (i == 0 || compare_types(&files[i - 1], &files[i]) != 0) {
			type = &stats->types[stats->type_count];
			type->name = extension(files[i]->name);
			stats->type_count++;
		}

		type = &stats->types[stats->type_count - 1];
		add_to_sum(&type->files, 1, files[i]->size);
	}

	return true;
}

/* Only kernels lose files: units are packed as they are. */
static void gather_dropped(const struct source *source, struct stats *stats)
{
	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		for (size_t j = 0;
		     entry->kind == TKB_KIND_KERNEL && j < entry->file_count;
		     j++) {
			const struct tkb_file *const file = &entry->files[j];

			if (!is_dropped(extension(file->name)))
				continue;
			stats_find_type(stats, file->name)->is_dropped = true;
			add_to_sum(&stats->dropped, 1, file->size);
		}
	}
}

/* Sorts `files`. */
static void gather_repeats(const struct tkb_file **files, struct stats *stats)
{
	const size_t count = (size_t)stats->files.count;

	qsort(files, count, sizeof(*files), compare_file_digests);
	for (size_t i = 1; i < count; i++) {
		if (compare_file_digests(&files[i - 1], &files[i]) == 0)
			add_to_sum(&stats->repeats, 1, files[i]->size);
	}
}

int stats_gather(const struct source *source, struct stats *out,
                 struct tkb_error *err)
{
	TKB_AUTO(stats_release) struct stats stats = { .type_count = 0 };
	TKB_AUTO(auto_free) const struct tkb_file **files = NULL;

	stats.entry_count = source_entry_count(source);
	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		add_to_sum(&stats.files, entry->file_count,
		           tkb_entry_size(entry));
	}

	files = list_files(source, stats.files.count);
	if (files == NULL || !gather_types(files, &stats) ||
	    !gather_names(source, &stats) || !gather_trees(source, &stats))
		return cli_error_nomem(err);
	gather_dropped(source, &stats);
	gather_repeats(files, &stats);

	*out = stats;
	stats = (struct stats){ .type_count = 0 };
	return 0;
}

void stats_release(struct stats *stats)
{
	free(stats->types);
	free(stats->names);
	free(stats->trees);
	*stats = (struct stats){ .type_count = 0 };
}

struct stats_tree *stats_find_tree(const struct stats *stats,
                                   const struct tkb_entry *entry)
{
	for (size_t i = 0;
	     entry->kind == TKB_KIND_UNIT && i < stats->tree_count; i++) {
		if (strcmp(stats->trees[i].name, entry->tree) == 0)
			return &stats->trees[i];
	}

	return NULL;
}

static int compare_with_type(const void *name, const void *item)
{
	const struct stats_type *const type = item;

	return strcmp(name, type->name);
}

struct stats_type *stats_find_type(const struct stats *stats, const char *name)
{
	return bsearch(extension(name), stats->types, stats->type_count,
	               sizeof(*stats->types), compare_with_type);
}
