/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats_out.h"

#include <inttypes.h>

#include "cli/text.h"

#define ROW_LIMIT 10 /* rows of a printed table */

static void print_types(FILE *to, const struct stats_out *shown)
{
	const struct stats *const stats = shown->stats;
	const double total =
		stats->files.size > 0 ? (double)stats->files.size : 1;

	text_line(to, "  files    size  share%s  type",
	          shown->paths != NULL ? "   paths" : "");
	for (size_t i = 0; i < stats->type_count; i++) {
		const struct stats_type *const type = &stats->types[i];
		char size[TEXT_SIZE_SIZE];
		char paths[32] = "";

		if (shown->paths != NULL)
			(void)snprintf(paths, sizeof(paths), "  %6" PRIu64,
			               type->path_count);
		text_size(type->files.size, size);
		text_line(to, "%7" PRIu64 "  %6s  %4.0f%%%s  %s%s",
		          type->files.count, size,
		          100 * (double)type->files.size / total, paths,
		          type->name[0] != '\0' ? type->name : "-",
		          type->is_dropped ? ", not in lean" : "");
	}
}

static void print_names(FILE *to, const struct stats *stats)
{
	uint64_t rest = 0;
	char size[TEXT_SIZE_SIZE];

	text_line(to, "entries   files    size  kind      name");
	for (size_t i = 0; i < stats->name_count; i++) {
		const struct stats_name *const name = &stats->names[i];

		if (i >= ROW_LIMIT) {
			rest += name->files.size;
			continue;
		}
		text_size(name->files.size, size);
		text_line(to, "%7" PRIu64 "  %6" PRIu64 "  %6s  %-8s  %s",
		          name->entry_count, name->files.count, size,
		          tkb_kind_name(name->kind), name->name);
	}

	text_size(rest, size);
	if (stats->name_count > ROW_LIMIT)
		text_line(to, "and %zu more, %s", stats->name_count - ROW_LIMIT,
		          size);
}

static void print_trees(FILE *to, const struct stats_out *shown)
{
	const struct stats *const stats = shown->stats;

	if (stats->tree_count == 0)
		return;
	text_line(to, "  units   files    size%s  tree",
	          shown->paths != NULL ? "   paths" : "");
	for (size_t i = 0; i < stats->tree_count; i++) {
		const struct stats_tree *const tree = &stats->trees[i];
		char size[TEXT_SIZE_SIZE];
		char paths[32] = "";

		if (shown->paths != NULL)
			(void)snprintf(paths, sizeof(paths), "  %6" PRIu64,
			               tree->path_count);
		text_size(tree->files.size, size);
		text_line(to, "%7" PRIu64 "  %6" PRIu64 "  %6s%s  %s",
		          tree->unit_count, tree->files.count, size, paths,
		          tree->name);
	}
	text_line(to, "%s", "");
}

void stats_out_print_parts(FILE *to, const struct stats_out *shown)
{
	text_line(to, "%s", "");
	print_trees(to, shown);
	print_types(to, shown);
}

static void print_paths(FILE *to, const struct path_table *paths)
{
	uint64_t rest = paths->beyond;

	text_line(to, "  count  path");
	for (size_t i = 0; i < paths->count; i++) {
		if (i < ROW_LIMIT)
			text_line(to, "%7" PRIu64 "  %s",
			          paths->items[i]->count,
			          paths->items[i]->text);
		else
			rest += paths->items[i]->count;
	}

	if (rest > 0)
		text_line(to, "%7" PRIu64 "  others", rest);
}

static void print_totals(FILE *to, const struct stats_out *shown)
{
	const struct stats *const stats = shown->stats;
	const struct tkb_bundle *const bundle = shown->source->bundle;
	char size[TEXT_SIZE_SIZE];

	text_size(stats->files.size, size);
	text_line(to, "total     %" PRIu64 " %s, %" PRIu64 " %s, %s%s%s",
	          stats->entry_count,
	          text_plural(stats->entry_count, "entry", "entries"),
	          stats->files.count,
	          text_plural(stats->files.count, "file", "files"), size,
	          bundle != NULL ? ", " : "",
	          bundle != NULL ? tkb_bundle_profile(bundle) : "");

	text_size(stats->repeats.size, size);
	text_line(to, "repeats   %" PRIu64 " %s, %s", stats->repeats.count,
	          text_plural(stats->repeats.count, "file", "files"), size);

	text_size(stats->dropped.size, size);
	text_line(to, "lean      drops %" PRIu64 " %s, %s",
	          stats->dropped.count,
	          text_plural(stats->dropped.count, "file", "files"), size);
}

static void print_bundle(FILE *to, const struct stats_out *shown)
{
	const struct tkb_bundle *const bundle = shown->source->bundle;
	const size_t frames = tkb_bundle_frame_count(bundle);
	const double packed = shown->packed > 0 ? (double)shown->packed : 1;
	char size[TEXT_SIZE_SIZE];

	text_size(shown->launchers.size, size);
	if (shown->launchers.count > 0)
		text_line(to, "launchers %" PRIu64 " %s, %s",
		          shown->launchers.count,
		          text_plural(shown->launchers.count, "payload",
		                      "payloads"),
		          size);

	text_size(shown->packed, size);
	if (shown->has_packed)
		text_line(to, "packed    %s in %zu %s, %.1f times smaller",
		          size, frames, text_plural(frames, "frame", "frames"),
		          (double)shown->stats->files.size / packed);
	else
		text_line(to, "packed    in %zu %s", frames,
		          text_plural(frames, "frame", "frames"));
}

/* Entries' own paths are replaced in a bundle, so it has none. */
static void print_path_totals(FILE *to, const struct stats_out *shown)
{
	const struct path_table *const paths = shown->paths;
	uint64_t own = 0;
	char rest[64] = "";

	for (size_t i = 0; i < shown->stats->type_count; i++)
		own += shown->stats->types[i].own_count;
	if (shown->source->cache != NULL)
		(void)snprintf(rest, sizeof(rest),
		               "; %" PRIu64 " more are the entries' own", own);

	text_line(to, "paths     %" PRIu64 " remain, %s%zu distinct%s",
	          paths->total, paths->beyond > 0 ? "more than " : "",
	          paths->count, rest);
}

void stats_out_print(FILE *to, const struct stats_out *shown)
{
	print_types(to, shown);
	text_line(to, "%s", "");
	print_names(to, shown->stats);
	text_line(to, "%s", "");
	print_trees(to, shown);
	if (shown->paths != NULL && shown->paths->total > 0) {
		print_paths(to, shown->paths);
		text_line(to, "%s", "");
	}

	print_totals(to, shown);
	if (shown->source->bundle != NULL)
		print_bundle(to, shown);
	if (shown->paths != NULL)
		print_path_totals(to, shown);
}

static void put_sum(struct json_out *json, const char *name,
                    const struct stats_sum *sum)
{
	json_out_open_object(json, name);
	json_out_number(json, "files", sum->count);
	json_out_number(json, "size", sum->size);
	json_out_close(json);
}

static void put_types(struct json_out *json, const struct stats_out *shown)
{
	json_out_open_array(json, "types");
	for (size_t i = 0; i < shown->stats->type_count; i++) {
		const struct stats_type *const type = &shown->stats->types[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "type", type->name);
		json_out_number(json, "files", type->files.count);
		json_out_number(json, "size", type->files.size);
		json_out_flag(json, "lean", !type->is_dropped);
		if (shown->paths != NULL) {
			json_out_number(json, "paths", type->path_count);
			json_out_number(json, "own", type->own_count);
		}
		json_out_close(json);
	}
	json_out_close(json);
}

static void put_names(struct json_out *json, const struct stats *stats)
{
	json_out_open_array(json, "names");
	for (size_t i = 0; i < stats->name_count; i++) {
		const struct stats_name *const name = &stats->names[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "name", name->name);
		json_out_text(json, "kind", tkb_kind_name(name->kind));
		json_out_number(json, "entries", name->entry_count);
		json_out_number(json, "files", name->files.count);
		json_out_number(json, "size", name->files.size);
		json_out_close(json);
	}
	json_out_close(json);
}

static void put_trees(struct json_out *json, const struct stats_out *shown)
{
	json_out_open_array(json, "trees");
	for (size_t i = 0; i < shown->stats->tree_count; i++) {
		const struct stats_tree *const tree = &shown->stats->trees[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "tree", tree->name);
		json_out_number(json, "units", tree->unit_count);
		json_out_number(json, "files", tree->files.count);
		json_out_number(json, "size", tree->files.size);
		if (shown->paths != NULL)
			json_out_number(json, "paths", tree->path_count);
		json_out_close(json);
	}
	json_out_close(json);
}

void stats_out_json_parts(struct json_out *json, const struct stats_out *shown)
{
	put_types(json, shown);
	put_trees(json, shown);
}

static void put_paths(struct json_out *json, const struct path_table *paths)
{
	json_out_open_object(json, "paths");
	json_out_number(json, "count", paths->total);
	json_out_number(json, "distinct", paths->count);
	json_out_number(json, "beyond", paths->beyond);
	json_out_open_array(json, "list");
	for (size_t i = 0; i < paths->count; i++) {
		json_out_open_object(json, NULL);
		json_out_text(json, "path", paths->items[i]->text);
		json_out_number(json, "count", paths->items[i]->count);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_close(json);
}

void stats_out_json(struct json_out *json, const struct stats_out *shown)
{
	const struct stats *const stats = shown->stats;

	if (shown->has_packed)
		json_out_number(json, "packed", shown->packed);
	else if (shown->source->bundle != NULL)
		json_out_null(json, "packed");

	put_types(json, shown);
	put_names(json, stats);
	put_trees(json, shown);
	json_out_number(json, "entry_count", stats->entry_count);
	json_out_number(json, "files", stats->files.count);
	json_out_number(json, "size", stats->files.size);
	put_sum(json, "repeats", &stats->repeats);
	put_sum(json, "dropped_by_lean", &stats->dropped);
	if (shown->source->bundle != NULL) {
		json_out_open_object(json, "launchers");
		json_out_number(json, "count", shown->launchers.count);
		json_out_number(json, "size", shown->launchers.size);
		json_out_close(json);
	}
	if (shown->paths != NULL)
		put_paths(json, shown->paths);
}
