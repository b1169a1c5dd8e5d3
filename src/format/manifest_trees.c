/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest_trees.h"

#include <stdlib.h>

#include "base/path.h"
#include "cache/entry.h"
#include "cache/names.h"
#include "format/manifest_schema.h"
#include "ninja/record.h"
#include "tree/gpu.h"
#include "tree/unit.h"

/*
 * The mode of a file: two bits for its kind, and above them its style of paths.
 * A mode of 0 is left out.
 */
enum mode {
	MODE_EXECUTABLE = 1,
	MODE_LAST = 2,
	MODE_STYLE = 4, /* multiplied by the style */
	MODE_LIMIT = MODE_STYLE * TKB_PATH_STYLE_BUILD + MODE_STYLE - 1
};

/*
 * Read
 */

static const struct tkb_schema_field mode_field = {
	.kind = TKB_SCHEMA_NUMBER,
	.size = sizeof(uint32_t),
	.least = 1,
	.limit = MODE_LIMIT,
	.wrong = "a mode is 0",
};

static int read_mode(struct tkb_schema_reader *reader, void *out,
                     struct tkb_error *err)
{
	struct tkb_file *file = out;
	uint32_t mode = 0;
	int rc;

	rc = tkb_schema_value(reader, &mode_field, &mode, err);
	if (rc < 0)
		return rc;
	file->is_executable = (mode & MODE_EXECUTABLE) != 0;
	file->is_last = (mode & MODE_LAST) != 0;
	file->style = (enum tkb_path_style)(mode / MODE_STYLE);
	return 0;
}

/* [path, size, digest], then the mode, then the number of sentinels. */
static const struct tkb_schema_field file_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_file, name, tkb_unit_path_is_valid,
	               "a path in a tree is not allowed"),
	TKB_FIELD_NUMBER(NULL, struct tkb_file, size, TKB_UNIT_FILE_SIZE_LIMIT),
	TKB_FIELD_DIGEST(NULL, struct tkb_file, digest),
	{ .kind = TKB_SCHEMA_CUSTOM, .is_optional = true, .read = read_mode },
	TKB_FIELD_SENTINELS,
};

static const char *file_fault(const void *earlier, size_t count,
                              const void *item)
{
	const struct tkb_file *file = item;

	(void)earlier, (void)count;
	if ((file->style == TKB_PATH_STYLE_NONE) != (file->sentinels == 0) &&
	    file->style != TKB_PATH_STYLE_BUILD)
		return "a file's style of paths does not fit its sentinels";
	if (file->style == TKB_PATH_STYLE_BUILD &&
	    (strcmp(file->name, TKB_NINJA_LOG) != 0 || !file->is_last))
		return "a record of ninja's has another name, or is not last";
	if (file->sentinels != 0 && file->size > TKB_FILE_SIZE_LIMIT)
		return "a text with paths is too large";
	return NULL;
}

static const struct tkb_schema_list file_list = {
	TKB_ITEMS_TUPLE(struct tkb_file,
	                TKB_TUPLE_OF(file_fields, "a file has too many parts"),
	                "a file is not a list"),
	.limit = TKB_UNIT_FILES_LIMIT,
	.none = "a unit without files",
	.too_many = "a unit has too many files",
	.fault = file_fault,
	.compare = tkb_compare_files,
	.unsorted = "files are not in order",
};

static bool is_folder_path(const char *path)
{
	return strcmp(path, ".") == 0 || tkb_unit_path_is_valid(path);
}

static const struct tkb_schema_field unit_fields[] = {
	TKB_FIELD_LIST("files", struct tkb_entry, files, file_count, &file_list,
	               "files are not a list"),
	TKB_FIELD_TEXT("folder", struct tkb_entry, folder, is_folder_path,
	               "a unit's folder is not allowed"),
	{ .name = "platform",
	  .kind = TKB_SCHEMA_TEXT,
	  .offset = offsetof(struct tkb_entry, platform),
	  .is_optional = true,
	  .is_valid = tkb_gpu_is_platform,
	  .wrong = "a unit's platform is not that of a GPU" },
};

/* The unit's name in memory. */
static const char *name_in_memory(const struct tkb_entry *unit)
{
	return tkb_unit_is_file(unit) ? unit->files[0].name : unit->folder;
}

static bool has_room(const struct tkb_entry *unit)
{
	for (size_t i = 0; i < unit->file_count; i++) {
		if (strlen(unit->folder) + strlen(unit->files[i].name) >
		    TKB_UNIT_PATH_LIMIT)
			return false;
	}
	return true;
}

static bool has_file(const void *self, const char *path)
{
	const struct tkb_entry *unit = self;
	const struct tkb_file wanted = { .name = path };

	return bsearch(&wanted, unit->files, unit->file_count, sizeof(wanted),
	               tkb_compare_files) != NULL;
}

static int compare_units(const void *a, const void *b)
{
	return strcmp(name_in_memory(a), name_in_memory(b));
}

static const char *platform_or_none(const struct tkb_entry *unit)
{
	return unit->platform == NULL ? "" : unit->platform;
}

/* A name may have one unit for each platform. */
static int compare_variants(const void *a, const void *b)
{
	const int order = compare_units(a, b);

	return order != 0 ? order
	                  : strcmp(platform_or_none(a), platform_or_none(b));
}

static bool has_unit(const void *self, const char *path)
{
	const struct tkb_manifest_tree *tree = self;
	const struct tkb_entry wanted = { .folder = path };

	return bsearch(&wanted, tree->units, tree->unit_count, sizeof(wanted),
	               compare_units) != NULL;
}

/* Does has() know one of the folders that `path` is in? */
static bool is_inside(const char *path,
                      bool (*has)(const void *self, const char *path),
                      const void *self)
{
	char outer[TKB_UNIT_PATH_LIMIT + 1];

	for (size_t i = 1; path[i] != '\0'; i++) {
		if (path[i] != '/')
			continue;
		memcpy(outer, path, i);
		outer[i] = '\0';
		if (has(self, outer))
			return true;
	}
	return false;
}

static bool has_file_in_file(const struct tkb_entry *unit)
{
	for (size_t i = 0; i < unit->file_count; i++) {
		if (is_inside(unit->files[i].name, has_file, unit))
			return true;
	}
	return false;
}

static const char *unit_fault(const void *earlier, size_t count,
                              const void *item)
{
	const struct tkb_entry *unit = item;

	(void)earlier, (void)count;
	if (tkb_entry_size(unit) > TKB_UNIT_SIZE_LIMIT)
		return "a unit is too large";
	if (tkb_unit_is_file(unit) && unit->file_count != 1)
		return "a unit without a folder has several files";
	if (!has_room(unit))
		return "a path in a tree is too long";
	if (has_file_in_file(unit))
		return "a file is inside another one";
	return NULL;
}

static const struct tkb_schema_list unit_list = {
	TKB_ITEMS_OBJECT(struct tkb_entry, TKB_OBJECT_OF(unit_fields),
	                 "a unit is not an object"),
	.limit = TKB_ENTRIES_LIMIT,
	.none = "a tree without units",
	.too_many = "too many units",
	.fault = unit_fault,
	.compare = compare_variants,
	.unsorted = "units are not in order",
};

static const struct tkb_schema_field tree_fields[] = {
	TKB_FIELD_TEXT("name", struct tkb_manifest_tree, name,
	               tkb_tree_name_is_valid, "a tree's name is not allowed"),
	TKB_FIELD_LIST("units", struct tkb_manifest_tree, units, unit_count,
	               &unit_list, "units are not a list"),
};

const char *tkb_manifest_feature(unsigned index)
{
	static const char *const words[] = { "builds", "trees", "tuned" };

	return index < TKB_COUNT_OF(words) ? words[index] : NULL;
}

unsigned tkb_manifest_features(const struct tkb_entry *unit)
{
	unsigned features = TKB_MANIFEST_TREES;

	if (platform_or_none(unit)[0] != '\0')
		features |= TKB_MANIFEST_TUNED;
	for (size_t i = 0; i < unit->file_count; i++) {
		if (unit->files[i].style == TKB_PATH_STYLE_BUILD)
			features |= TKB_MANIFEST_BUILDS;
	}
	return features;
}

const struct tkb_schema_list tkb_manifest_trees = {
	TKB_ITEMS_OBJECT(struct tkb_manifest_tree, TKB_OBJECT_OF(tree_fields),
	                 "a tree is not an object"),
	.limit = TKB_TREES_LIMIT,
	.too_many = "too many trees",
	.compare = tkb_compare_texts, /* by their names */
	.unsorted = "trees are not in order",
};

static int make_whole(struct tkb_manifest *manifest, struct tkb_hasher *hasher,
                      const char *tree, struct tkb_entry *unit,
                      struct tkb_error *err)
{
	static const uint32_t device = 0;
	char key[TKB_DIGEST_HEX_SIZE];
	int rc;

	unit->name = name_in_memory(unit);
	rc = tkb_unit_tree_key(hasher, tree, unit->name, key, err);
	if (rc < 0)
		return rc;
	unit->key = tkb_arena_string(&manifest->arena, tkb_text(key));
	if (unit->key == NULL)
		return tkb_fail_nomem(err);
	unit->kind = TKB_KIND_UNIT;
	unit->tree = tree;
	unit->platform = platform_or_none(unit);
	unit->target = (struct tkb_target){ .backend = "", .arch = "" };
	unit->producer = "";
	unit->producer_version = "";
	unit->devices = &device;
	unit->device_count = 1;
	return 0;
}

static int add_units_of_tree(struct tkb_manifest *manifest,
                             struct tkb_hasher *hasher,
                             const struct tkb_manifest_tree *tree,
                             struct tkb_error *err)
{
	const char *last = "";
	int rc;

	for (size_t i = 0; i < tree->unit_count; i++) {
		struct tkb_entry *unit =
			&manifest->entries[manifest->entry_count + i];

		*unit = tree->units[i];
		rc = make_whole(manifest, hasher, tree->name, unit, err);
		if (rc < 0)
			return rc;
		/* Units of one folder are inside the same ones. */
		if (!tkb_path_has_same_parent(unit->name, last) &&
		    is_inside(unit->name, has_unit, tree))
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "unit '%.200s' is inside another one",
			                unit->name);
		last = unit->name;
	}
	manifest->entry_count += tree->unit_count;
	return 0;
}

unsigned tkb_manifest_tree_features(const struct tkb_manifest_tree *tree)
{
	unsigned features = TKB_MANIFEST_TREES;

	for (size_t i = 0; i < tree->unit_count; i++)
		features |= tkb_manifest_features(&tree->units[i]);
	return features;
}

int tkb_manifest_add_units(struct tkb_manifest *manifest,
                           const struct tkb_manifest_tree *trees,
                           size_t tree_count, struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	struct tkb_entry *entries;
	size_t total = manifest->entry_count;
	int rc;

	if (tree_count == 0)
		return 0;
	for (size_t i = 0; i < tree_count; i++)
		total += trees[i].unit_count;
	if (total > TKB_ENTRIES_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the manifest has too many entries and units");
	entries = tkb_arena_alloc(&manifest->arena, total, sizeof(*entries));
	if (entries == NULL)
		return tkb_fail_nomem(err);
	if (manifest->entry_count != 0)
		memcpy(entries, manifest->entries,
		       manifest->entry_count * sizeof(*entries));
	manifest->entries = entries;
	rc = tkb_hasher_open(&hasher, err);
	for (size_t i = 0; i < tree_count && rc == 0; i++)
		rc = add_units_of_tree(manifest, &hasher, &trees[i], err);
	return rc;
}

/*
 * Write
 */

static unsigned mode_of(const struct tkb_file *file)
{
	return (file->is_executable ? (unsigned)MODE_EXECUTABLE : 0) +
	       (file->is_last ? (unsigned)MODE_LAST : 0) +
	       MODE_STYLE * (unsigned)file->style;
}

static void write_unit(const struct tkb_entry *unit, struct tkb_buf *out)
{
	tkb_buf_add_text(out, "{\"files\":[");
	for (size_t i = 0; i < unit->file_count; i++)
		tkb_manifest_write_file(&unit->files[i],
		                        mode_of(&unit->files[i]),
		                        i == 0 ? "" : ",", out);
	tkb_json_add_text(out, "],\"folder\":", unit->folder);
	if (unit->platform[0] != '\0')
		tkb_json_add_text(out, ",\"platform\":", unit->platform);
	tkb_buf_add_byte(out, '}');
}

void tkb_manifest_write_trees(const struct tkb_entry *const *units,
                              size_t count, struct tkb_buf *out)
{
	const char *tree = NULL;

	for (size_t i = 0; i < count; i++) {
		if (tree != NULL && strcmp(tree, units[i]->tree) == 0) {
			tkb_buf_add_byte(out, ',');
		} else {
			tkb_buf_add_text(out, tree == NULL ? "" : "]},");
			tree = units[i]->tree;
			tkb_json_add_text(out, "{\"name\":", tree);
			tkb_buf_add_text(out, ",\"units\":[");
		}
		write_unit(units[i], out);
	}
	tkb_buf_add_text(out, tree == NULL ? "" : "]}");
}
