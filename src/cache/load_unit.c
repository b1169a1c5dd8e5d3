/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/elf.h"
#include "cache/names.h"
#include "ninja/record.h"
#include "tree/glob.h"
#include "tree/moved.h"
#include "tree/secrets.h"
#include "tree/walk.h"
#include "tree/whole.h"

enum {
	PATH_SIZE = 4096
};

/* The unit that is loaded, and where it is. */
struct unit {
	struct tkb_loader *loader;
	const struct tkb_root *root;
	const char *folder; /* in the root; "." if the unit is one file */
	struct tkb_scanned_entry *found;
	size_t count;  /* of the names in the loader */
	bool is_built; /* ninja built it */
	int fd;        /* owned; the unit's folder */
};

static void unit_close(struct unit *unit)
{
	tkb_fd_close_at(&unit->fd);
}

/* The path of a file of the unit, relative to the root of its tree. */
static void format_path(const struct unit *unit, const char *name,
                        char out[PATH_SIZE])
{
	if (strcmp(unit->folder, ".") == 0)
		(void)snprintf(out, PATH_SIZE, "%s", name);
	else
		(void)snprintf(out, PATH_SIZE, "%s/%s", unit->folder, name);
}

/*
 * List
 */

static int load_unit_item(void *self, const struct tkb_tree_item *item,
                          struct tkb_error *err)
{
	struct unit *unit = self;
	const char *name = item->path + strlen(unit->folder) + 1;

	if (item->thing == TKB_TREE_THING_REFUSED)
		return tkb_fail_entry(err, (enum tkb_reason)item->why->reason,
		                      "'%s': %s", name, item->why->message);
	if (strlen(item->path) >= TKB_UNIT_PATH_LIMIT ||
	    !tkb_unit_path_is_valid(name))
		return tkb_fail_entry(err, TKB_REASON_NAME,
		                      "'%s' cannot be in a bundle", name);
	/* The record replaces ninja's own files. */
	if (unit->is_built && strcmp(name, TKB_NINJA_DEPS) == 0)
		return 0;
	unit->count++;
	tkb_buf_add(&unit->loader->names,
	            (struct tkb_bytes){ name, strlen(name) + 1 });
	return 0;
}

static int list_files(struct unit *unit, struct tkb_error *err)
{
	const struct tkb_tree_visitor visitor = { .self = unit,
		                                  .visit = load_unit_item };
	struct tkb_loader *loader = unit->loader;
	const char *name;
	int rc;

	tkb_buf_reset(&loader->names);
	rc = tkb_tree_walk(unit->root->fd, unit->folder,
	                   unit->root->tree->rules, &visitor, err);
	if (rc == 0)
		rc = tkb_buf_check(&loader->names, err);
	if (rc < 0)
		return rc;
	if (unit->count == 0)
		return TKB_MISS;
	if (unit->count > TKB_UNIT_FILES_LIMIT)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "it holds more than %d files",
		                      TKB_UNIT_FILES_LIMIT);
	rc = tkb_load_alloc_files(loader, unit->found, unit->count, err);
	name = (const char *)loader->names.data;
	for (size_t i = 0; i < unit->count && rc == 0; i++) {
		const char *kept;

		rc = tkb_arena_copy(&loader->arena, tkb_text(name), &kept, err);
		if (rc < 0)
			return rc;
		tkb_load_add_file(unit->found, kept);
		name += strlen(name) + 1;
	}
	if (rc == 0)
		tkb_load_sort_files(unit->found);
	return rc;
}

/*
 * Scrub
 */

static struct tkb_text_place place_of_unit(const struct unit *unit)
{
	return (struct tkb_text_place){ .tree = unit->root->tree->name,
		                        .folder = unit->folder };
}

/* `before` is the byte before the path: in JSON, text may be quoted once more. */
static bool ends_path_in_text(enum tkb_path_style style, char before, char c)
{
	const bool is_string =
		style == TKB_PATH_STYLE_JSON || style == TKB_PATH_STYLE_PYTHON;

	return c == '\0' || c == '"' || c == '\n' ||
	       (c == '\'' &&
	        (style != TKB_PATH_STYLE_JSON || before == '\'')) ||
	       (c == ' ' && !is_string);
}

/* Replace the present and former paths of trees in a text by sentinels. */
static int scrub(struct unit *unit, struct tkb_bytes text,
                 struct tkb_file *file, struct tkb_error *err)
{
	const struct tkb_text_place at = place_of_unit(unit);
	struct tkb_loader *loader = unit->loader;
	bool is_moved = false;
	int rc;

	tkb_buf_reset(&loader->text);
	rc = tkb_moved_scrub(text, file->style, &at, loader->named,
	                     loader->named_count, &loader->text,
	                     &file->sentinels, &is_moved, err);
	unit->found->is_moved |= is_moved;
	return rc == TKB_ERR_CORRUPT
	               ? tkb_fail_while(err, rc, "'%s'", file->name)
	               : rc;
}

/* Check that the files exist that an index names: an engine may need them. */
static int check_named(const struct unit *unit, const char *name,
                       enum tkb_path_style style, struct tkb_error *err)
{
	const struct tkb_bytes text = tkb_buf_bytes(&unit->loader->text);
	const struct tkb_text_place place = place_of_unit(unit);
	const char *at = text.data;
	const char *end = at + text.size;
	char sentinel[sizeof("[REPLACE:]/") + TKB_TREE_NAME_LIMIT];
	char path[PATH_SIZE];
	size_t length;

	if (tkb_moved_is_mixed(text, &place))
		return tkb_fail_entry(err, TKB_REASON_SENTINEL,
		                      "'%s' names its folder by other paths",
		                      name);
	length = (size_t)snprintf(sentinel, sizeof(sentinel), "[REPLACE:%s]/",
	                          unit->root->tree->name);
	while ((at = memmem(at, (size_t)(end - at), sentinel, length)) !=
	       NULL) {
		const char before = at == text.data ? '\0' : at[-1];
		size_t size = 0;
		struct stat status;

		at += length;
		while (at + size < end &&
		       !ends_path_in_text(style, before, at[size]))
			size++;
		/* A path with escapes is not looked for. */
		if (size == 0 || size >= sizeof(path) ||
		    memchr(at, '\\', size) != NULL)
			continue;
		memcpy(path, at, size);
		path[size] = '\0';
		if (fstatat(unit->root->fd, path, &status,
		            AT_SYMLINK_NOFOLLOW) == 0) {
			if (S_ISREG(status.st_mode) && status.st_size == 0)
				return tkb_fail_entry(err, TKB_REASON_BINARY,
				                      "'%s' names '%.300s', "
				                      "which is empty",
				                      name, path);
		} else if (errno == ENOENT || errno == ENOTDIR) {
			return tkb_fail_entry(err, TKB_REASON_MISSING,
			                      "'%s' names '%.300s', which is "
			                      "not there",
			                      name, path);
		}
	}
	return 0;
}

/*
 * The style in which a file's secrets are hidden. In what ninja has built, files
 * without a telling name may be its inputs, whose bytes it records.
 */
static enum tkb_path_style secret_style(const struct unit *unit,
                                        const struct tkb_tree_rule *rule,
                                        struct tkb_bytes bytes)
{
	return unit->is_built ? tkb_tree_named_style(rule)
	                      : tkb_tree_secret_style(rule, bytes);
}

/* Read a text, hide its secrets, and replace paths by sentinels. */
static int load_text(struct unit *unit, size_t index,
                     const struct tkb_tree_rule *rule, struct tkb_error *err)
{
	struct tkb_loader *loader = unit->loader;
	struct tkb_file *file = &unit->found->files[index];
	struct tkb_bytes text;
	size_t hidden_count = 0;
	int rc;

	rc = tkb_load_read_file(loader, unit->fd, unit->found, index, err);
	if (rc < 0)
		return rc;
	text = tkb_buf_bytes(&loader->scratch);
	if (!tkb_tree_text_is_whole(unit->root->tree->rules, rule, text))
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "'%s' was not written to its end",
		                      file->name);
	tkb_buf_reset(&loader->group);
	rc = tkb_secrets_hide(text, secret_style(unit, rule, text),
	                      &loader->group, &hidden_count, err);
	if (rc == TKB_ERR_TOO_LARGE)
		return tkb_fail_entry(
			err, TKB_REASON_LIMIT,
			"'%s' would have more than %llu bytes "
			"without its secrets",
			file->name,
			(unsigned long long)TKB_FILE_SIZE_LIMIT);
	if (rc < 0)
		return rc;
	if (rule->style == TKB_PATH_STYLE_NONE && hidden_count == 0) {
		file->size = text.size; /* it is packed unchanged */
		return 0;
	}
	if (rule->style == TKB_PATH_STYLE_NONE)
		return tkb_load_keep_bytes(loader, unit->found, index,
		                           tkb_buf_bytes(&loader->group), err);
	file->style = rule->style;
	rc = scrub(unit, tkb_buf_bytes(&loader->group), file, err);
	if (rc == 0 && rule->is_last)
		rc = check_named(unit, file->name, rule->style, err);
	if (rc < 0)
		return rc;
	if (file->sentinels == 0)
		file->style = TKB_PATH_STYLE_NONE;
	return tkb_load_keep_bytes(loader, unit->found, index,
	                           tkb_buf_bytes(&loader->text), err);
}

/*
 * Load ninja's record in place of its log. If ninja would rebuild something,
 * leave the unit out: nobody knows what its files were built from.
 */
static int load_record(struct unit *unit, size_t index, struct tkb_error *err)
{
	struct tkb_loader *loader = unit->loader;
	struct tkb_file *file = &unit->found->files[index];
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT);
	struct tkb_error why = { 0 };
	bool is_fresh = false;
	int rc;

	rc = tkb_load_stat_file(unit->fd, unit->found, index, err);
	if (rc == 0)
		rc = tkb_load_make_record(loader, unit->root, unit->folder,
		                          unit->fd, &record, &is_fresh, &why,
		                          err);
	if (rc < 0)
		return rc;
	if (!is_fresh)
		return tkb_fail_as(err, why.status, &why);
	file->style = TKB_PATH_STYLE_BUILD;
	file->is_last = true;
	tkb_buf_reset(&loader->text);
	rc = tkb_paths_scrub(tkb_buf_bytes(&record), file->style, loader->named,
	                     loader->named_count, &loader->text,
	                     &file->sentinels, err);
	return rc < 0 ? rc
	              : tkb_load_keep_bytes(loader, unit->found, index,
	                                    tkb_buf_bytes(&loader->text), err);
}

int tkb_load_check_ends(const struct tkb_root *root, const char *name,
                        const struct tkb_fd_ends *ends, struct tkb_error *err)
{
	const bool is_device_code = tkb_name_ends_with(name, ".cubin") ||
	                            tkb_name_ends_with(name, ".hsaco");
	const bool is_empty_module = root->tree->rules != NULL &&
	                             ends->head.size == 0 &&
	                             tkb_name_ends_with(name, ".so");

	if (is_device_code || is_empty_module || tkb_elf_is(ends->head))
		return tkb_elf_check_head(
			ends->head, (uint64_t)ends->status.st_size, name, err);
	if (root->tree->rules != NULL &&
	    !tkb_pickle_is_whole(ends->head, ends->last))
		return tkb_fail_entry(err, TKB_REASON_BINARY,
		                      "'%s' is a pickle without its end", name);
	return 0;
}

static int load_file(struct unit *unit, size_t index, struct tkb_error *err)
{
	struct tkb_file *file = &unit->found->files[index];
	struct tkb_tree_rule rule;
	char path[PATH_SIZE];
	struct tkb_fd_ends ends;
	int rc;

	format_path(unit, file->name, path);
	rule = tkb_tree_judge(unit->root->tree->rules, path);
	if (unit->is_built && strcmp(file->name, TKB_NINJA_LOG) == 0)
		return load_record(unit, index, err);
	if (unit->is_built && strcmp(file->name, TKB_NINJA_BUILD) == 0)
		rule.style = TKB_PATH_STYLE_NINJA;
	if (tkb_fd_read_ends(unit->fd, file->name, &ends) < 0)
		return tkb_fail_look(TKB_REASON_BUSY, "cannot be read",
		                     file->name, err);
	file->is_executable = (ends.status.st_mode & S_IXUSR) != 0;
	file->is_last = rule.is_last != 0;
	rc = tkb_load_check_ends(unit->root, file->name, &ends, err);
	if (rc < 0)
		return rc;
	if (secret_style(unit, &rule, ends.head) != TKB_PATH_STYLE_NONE)
		return load_text(unit, index, &rule, err);
	return tkb_load_stat_file(unit->fd, unit->found, index, err);
}

/*
 * The whole unit
 */

/* Engines write the index last: without an index, the unit is unfinished. */
static bool has_index(const struct unit *unit)
{
	const char *index =
		tkb_tree_index(unit->root->tree->rules, unit->folder);

	for (size_t i = 0; index != NULL && i < unit->found->entry.file_count;
	     i++) {
		if (tkb_glob_matches(index, unit->found->files[i].name))
			return true;
	}
	return index == NULL;
}

static bool is_near(const struct timespec *time, const struct timespec *now,
                    uint32_t distance_ms)
{
	const int64_t distance = ((int64_t)time->tv_sec - now->tv_sec) * 1000 +
	                         (time->tv_nsec - now->tv_nsec) / 1000000;

	return distance < distance_ms && -distance < distance_ms;
}

/*
 * Check that no file was changed just now. The file system's clock may be a
 * little ahead of ours.
 */
static int check_settled(const struct unit *unit, struct tkb_error *err)
{
	const struct tkb_scanned_entry *found = unit->found;
	const uint32_t settle_ms = unit->loader->settle_ms;
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; settle_ms != 0 && i < found->entry.file_count; i++) {
		if (is_near(&found->loaded[i].stamp.changed, &now, settle_ms))
			return tkb_fail_entry(err, TKB_REASON_BUSY,
			                      "'%.300s' was changed a moment "
			                      "ago",
			                      found->files[i].name);
	}
	return 0;
}

static int load_files(struct unit *unit, struct tkb_error *err)
{
	int rc;

	unit->fd = tkb_fd_open_below(unit->root->fd, unit->folder,
	                             O_RDONLY | O_DIRECTORY);
	if (unit->fd < 0)
		return tkb_fail_look(TKB_REASON_BUSY,
		                     "vanished while it was read", unit->folder,
		                     err);
	for (size_t i = 0; i < unit->found->entry.file_count; i++) {
		rc = load_file(unit, i, err);
		if (rc < 0)
			return rc;
	}
	if (tkb_entry_size(&unit->found->entry) > TKB_UNIT_SIZE_LIMIT)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "the unit has more than %llu bytes",
		                      (unsigned long long)TKB_UNIT_SIZE_LIMIT);
	return 0;
}

/*
 * Did ninja build this folder? The rules may leave a folder to ninja that was
 * made without it.
 */
static bool is_built(const struct tkb_root *root,
                     const struct tkb_unit_place *place)
{
	char path[PATH_SIZE];

	return !place->is_file && place->is_ninja &&
	       snprintf(path, sizeof(path), "%s/%s", place->path,
	                TKB_NINJA_BUILD) < PATH_SIZE &&
	       tkb_fd_exists(root->fd, path);
}

static int check_built(const struct unit *unit, struct tkb_error *err)
{
	if (!unit->is_built || tkb_unit_record(&unit->found->entry) != NULL)
		return 0;
	return tkb_fail_entry(err, TKB_REASON_MISSING,
	                      "'%s' is not there: ninja has not built it",
	                      TKB_NINJA_LOG);
}

int tkb_load_make_record(struct tkb_loader *loader, const struct tkb_root *root,
                         const char *folder, int dir_fd, struct tkb_buf *out,
                         bool *is_fresh_out, struct tkb_error *why,
                         struct tkb_error *err)
{
	char path[2 * PATH_SIZE];
	const struct tkb_ninja_place place = { .dir_fd = dir_fd,
		                               .folder = path,
		                               .root = root->path };

	if (snprintf(path, sizeof(path), "%s/%s", root->path, folder) >=
	    (int)sizeof(path))
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "its path is too long");
	return tkb_ninja_record_make(&place, &loader->hasher, out, is_fresh_out,
	                             why, err);
}

int tkb_load_unit(struct tkb_loader *loader, const struct tkb_root *root,
                  const struct tkb_unit_place *place,
                  struct tkb_scanned_entry *out, struct tkb_error *err)
{
	static const uint32_t device = 0;
	struct tkb_scanned_entry found = {
		.root = root,
		.entry = { .kind = TKB_KIND_UNIT,
		           .key = place->key,
		           .name = place->name,
		           .tree = root->tree->name,
		           .folder = place->is_file ? "." : place->name,
		           .platform = "",
		           .target = { .backend = "", .arch = "" },
		           .producer = "",
		           .producer_version = "",
		           .devices = &device,
		           .device_count = 1 },
	};
	TKB_AUTO(unit_close)
	struct unit unit = { .loader = loader,
		             .root = root,
		             .folder = place->is_file ? "." : place->path,
		             .found = &found,
		             .is_built = is_built(root, place),
		             .fd = -1 };
	bool is_stale = false;
	int rc;

	if (place->is_file) {
		rc = tkb_load_alloc_files(loader, &found, 1, err);
		if (rc == 0)
			tkb_load_add_file(&found, place->path);
	} else {
		rc = list_files(&unit, err);
	}
	if (rc == 0 && place->is_tuned)
		rc = tkb_load_tuned(loader, &found, err);
	if (rc == 0 && !has_index(&unit))
		rc = TKB_MISS;
	if (rc == 0)
		rc = load_files(&unit, err);
	if (rc == 0)
		rc = check_settled(&unit, err);
	if (rc == 0)
		rc = check_built(&unit, err);
	if (rc < 0 || rc == TKB_MISS)
		return rc;
	(void)tkb_unit_names_here(root->names, place->name, &is_stale);
	found.is_moved |= is_stale;
	*out = found;
	return 0;
}
