/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"
#include "cache/load.h"
#include "cache/names.h"
#include "tree/moved.h"
#include "tree/rules.h"
#include "tree/secrets.h"
#include "tree/unit.h"
#include "emit/inspect.h"
#include "emit/unit.h"

enum {
	PATH_SIZE = 2 * TKB_UNIT_PATH_LIMIT + 2
};

/* How a file at the destination compares to the bundle's file. */
enum match {
	MATCH_SAME,
	MATCH_OTHER,  /* another compile made it */
	MATCH_TORN,   /* missing, empty, damaged, not executable, or it names
	                another root */
	MATCH_USELESS /* an index that is cut short: no engine can read it */
};

/* The destination, and the unit to compare it with. */
struct place {
	struct tkb_loader *loader;
	const struct tkb_root *root;
	const struct tkb_entry *unit;
	int fd; /* of the folder that contains its files */
	bool is_trusted;
};

/* The digest that `bytes` would have in a bundle. */
static int digest_of(const struct place *place, const struct tkb_file *file,
                     struct tkb_bytes bytes, struct tkb_digest *out,
                     bool *is_moved, struct tkb_error *err)
{
	const struct tkb_text_place at = { .tree = place->unit->tree,
		                           .folder = place->unit->folder };
	struct tkb_loader *loader = place->loader;
	struct tkb_error fault = { 0 };
	uint32_t sentinels = 0;
	int rc;

	if (file->sentinels != 0) {
		tkb_buf_reset(&loader->text);
		rc = tkb_moved_scrub(bytes, file->style, &at, loader->named,
		                     loader->named_count, &loader->text,
		                     &sentinels, is_moved, &fault);
		if (rc == TKB_ERR_NOMEM)
			return tkb_fail_nomem(err);
		/* A text that cannot be scrubbed differs from the bundle's
		   in any case. */
		if (rc == 0)
			bytes = tkb_buf_bytes(&loader->text);
	}
	return tkb_hasher_digest(&loader->hasher, bytes, out, err);
}

/* What the tree's rules say about the file. The rule refers to `path`. */
static struct tkb_tree_rule rule_of(const struct place *place,
                                    const struct tkb_file *file,
                                    char path[PATH_SIZE])
{
	if (tkb_unit_is_file(place->unit))
		(void)snprintf(path, PATH_SIZE, "%s", file->name);
	else
		(void)snprintf(path, PATH_SIZE, "%s/%s", place->unit->folder,
		               file->name);
	return tkb_tree_judge(place->root->tree->rules, path);
}

/* How a text compares to the bundle's. */
struct comparison {
	bool is_same; /* but for its secrets, and for the paths in it */
	bool is_moved;
	bool has_secrets;
};

/* Compare the text in the loader's scratch. */
static int compare_text(const struct place *place, const struct tkb_file *file,
                        const struct tkb_tree_rule *rule,
                        struct comparison *out, struct tkb_error *err)
{
	struct tkb_loader *loader = place->loader;
	const struct tkb_bytes text = tkb_buf_bytes(&loader->scratch);
	const enum tkb_path_style style = tkb_tree_secret_style(rule, text);
	struct tkb_digest digest;
	size_t hidden_count = 0;
	int rc;

	rc = digest_of(place, file, text, &digest, &out->is_moved, err);
	if (rc < 0)
		return rc;
	out->is_same = tkb_digest_equal(&digest, &file->digest);
	if (out->is_same || style == TKB_PATH_STYLE_NONE)
		return 0;
	tkb_buf_reset(&loader->group);
	rc = tkb_secrets_hide(text, style, &loader->group, &hidden_count, err);
	out->has_secrets = hidden_count != 0 || rc == TKB_ERR_TOO_LARGE;
	if (rc == TKB_ERR_TOO_LARGE)
		return 0;
	if (rc == 0 && hidden_count != 0)
		rc = digest_of(place, file, tkb_buf_bytes(&loader->group),
		               &digest, &out->is_moved, err);
	out->is_same = tkb_digest_equal(&digest, &file->digest);
	return rc;
}

/* Does the file name others, in a style that tells whether it is whole? */
static bool is_index(const struct tkb_tree_rule *rule)
{
	const enum tkb_path_style style = tkb_tree_named_style(rule);

	return rule->is_last != 0 &&
	       (style == TKB_PATH_STYLE_JSON || style == TKB_PATH_STYLE_PYTHON);
}

/* Has the file the bundle's bytes? It may be large; one that cannot be read has not. */
static int is_same_file(const struct place *place, const struct tkb_file *file,
                        bool *out, struct tkb_error *err)
{
	struct tkb_hasher *hasher = &place->loader->hasher;
	const struct tkb_sink sink = tkb_hasher_sink(hasher);
	struct tkb_error fault = { 0 };
	struct tkb_digest digest;
	struct stat status;
	int rc;

	*out = false;
	rc = tkb_hasher_begin(hasher, err);
	if (rc < 0)
		return rc;
	rc = tkb_fd_send_file(place->fd, file->name, TKB_UNIT_FILE_SIZE_LIMIT,
	                      &sink, &status, &fault);
	if (rc < 0)
		return rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
	rc = tkb_hasher_end(hasher, &digest, err);
	*out = rc == 0 && tkb_digest_equal(&digest, &file->digest);
	return rc;
}

/*
 * Read the file and compare it. A text that names another root is useless here.
 * A file that differs is of another compile if its size differs (`has_size` is
 * false), if it has paths or secrets, which change the size, or if it is an
 * index, which is whole; otherwise it is damaged. What is too large for a text of
 * which machines have different ones is read only to be hashed.
 */
static int compare_bytes(const struct place *place, const struct tkb_file *file,
                         const struct tkb_tree_rule *rule, bool has_size,
                         enum match *out, struct tkb_error *err)
{
	struct tkb_loader *loader = place->loader;
	struct tkb_error fault = { 0 };
	struct stat status;
	struct comparison found = { .is_same = false };
	int rc = 0;

	*out = MATCH_SAME;
	if (file->sentinels == 0 && has_size)
		rc = is_same_file(place, file, &found.is_same, err);
	if (rc < 0 || found.is_same)
		return rc;
	tkb_buf_reset(&loader->scratch);
	rc = tkb_fd_read_file(place->fd, file->name, TKB_FILE_SIZE_LIMIT,
	                      &loader->scratch, &status, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	*out = fault.reason == TKB_REASON_LIMIT && !has_size ? MATCH_OTHER
	                                                     : MATCH_TORN;
	if (rc < 0)
		return 0;
	if (!tkb_tree_text_is_whole(place->root->tree->rules, rule,
	                            tkb_buf_bytes(&loader->scratch))) {
		*out = rule->is_last ? MATCH_USELESS : MATCH_TORN;
		return 0;
	}
	rc = compare_text(place, file, rule, &found, err);
	if (rc < 0)
		return rc;
	if (found.is_same && !found.is_moved)
		*out = MATCH_SAME;
	else if (!found.is_same && (file->sentinels != 0 || !has_size ||
	                            found.has_secrets || is_index(rule)))
		*out = MATCH_OTHER;
	return 0;
}

/*
 * Compare a file of another size that has no paths. It is of another compile,
 * unless it is cut short, or only its secrets differ.
 */
static int compare_sizes(const struct place *place, const struct tkb_file *file,
                         const struct tkb_tree_rule *rule, enum match *out,
                         struct tkb_error *err)
{
	struct tkb_fd_ends ends;

	*out = MATCH_TORN;
	if (tkb_fd_read_ends(place->fd, file->name, &ends) < 0 ||
	    tkb_load_check_ends(place->root, file->name, &ends, NULL) < 0)
		return 0;
	*out = MATCH_OTHER;
	return tkb_tree_secret_style(rule, ends.head) == TKB_PATH_STYLE_NONE
	               ? 0
	               : compare_bytes(place, file, rule, false, out, err);
}

/*
 * Compare ninja's record. The unit matches if ninja would have nothing to do
 * here. A build from other inputs belongs to somebody else.
 */
static int match_record(const struct place *place, const struct tkb_file *file,
                        enum match *out, struct tkb_error *err)
{
	struct tkb_loader *loader = place->loader;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT);
	struct tkb_error fault = { 0 };
	struct tkb_digest digest;
	uint32_t sentinels = 0;
	bool is_fresh = false;
	int rc;

	rc = tkb_load_make_record(loader, place->root, place->unit->folder,
	                          place->fd, &record, &is_fresh, NULL, &fault);
	if (rc == 0) {
		tkb_buf_reset(&loader->text);
		rc = tkb_paths_scrub(tkb_buf_bytes(&record), file->style,
		                     loader->named, loader->named_count,
		                     &loader->text, &sentinels, &fault);
	}
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	*out = MATCH_TORN;
	if (rc < 0)
		return 0;
	rc = tkb_hasher_digest(&loader->hasher, tkb_buf_bytes(&loader->text),
	                       &digest, err);
	if (rc < 0)
		return rc;
	if (!tkb_digest_equal(&digest, &file->digest))
		*out = MATCH_OTHER;
	else if (is_fresh)
		*out = MATCH_SAME;
	return 0;
}

static int match_file(const struct place *place, const struct tkb_file *file,
                      enum match *out, struct tkb_error *err)
{
	struct tkb_tree_rule rule;
	struct stat status;
	char path[PATH_SIZE];
	bool has_size;
	bool is_enough;

	if (file->style == TKB_PATH_STYLE_BUILD)
		return match_record(place, file, out, err);
	*out = MATCH_TORN;
	if (fstatat(place->fd, file->name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode) ||
	    (file->is_executable && (status.st_mode & S_IXUSR) == 0) ||
	    (status.st_size == 0 && file->size != 0))
		return 0;
	has_size = (uint64_t)status.st_size == file->size;
	*out = has_size ? MATCH_SAME : MATCH_OTHER;
	is_enough = file->sentinels == 0 && has_size && place->is_trusted;
	if (is_enough && !file->is_last)
		return 0;
	rule = rule_of(place, file, path);
	if (is_enough && !is_index(&rule))
		return 0;
	if (file->sentinels == 0 && !has_size)
		return compare_sizes(place, file, &rule, out, err);
	return compare_bytes(place, file, &rule, has_size, out, err);
}

/*
 * Compare a unit's files, its index first: without the index, all others are
 * useless.
 */
static int match_files(const struct place *place, enum tkb_entry_state *out,
                       struct tkb_error *err)
{
	const struct tkb_entry *unit = place->unit;
	int rc;

	*out = TKB_ENTRY_STATE_PRESENT;
	for (size_t i = 0; i < 2 * unit->file_count; i++) {
		const struct tkb_file *file =
			&unit->files[i % unit->file_count];
		enum match match = MATCH_TORN;

		if (file->is_last != (i < unit->file_count))
			continue;
		rc = match_file(place, file, &match, err);
		if (rc < 0)
			return rc;
		if (match == MATCH_TORN || match == MATCH_USELESS)
			*out = TKB_ENTRY_STATE_BROKEN;
		if (match == MATCH_USELESS)
			return 0;
		/* The unit belongs to somebody else, even if parts of it are
		   damaged: the bundle has no parts that fit. */
		if (match == MATCH_OTHER) {
			*out = TKB_ENTRY_STATE_PRESENT;
			return 0;
		}
	}
	return 0;
}

int tkb_inspect_unit(struct tkb_loader *loader, const struct tkb_root *root,
                     const struct tkb_entry *unit, bool is_trusted,
                     enum tkb_entry_state *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	struct place place = { .loader = loader,
		               .root = root,
		               .unit = unit,
		               .fd = root->fd,
		               .is_trusted = is_trusted };
	const char *name = NULL;
	struct stat status;
	bool is_stale;
	int parent;
	int rc;

	parent = tkb_unit_find_parent(
		&loader->parent, root->fd, NULL,
		tkb_unit_names_here(root->names, unit->name, &is_stale), &name);
	if (parent >= 0 && tkb_unit_is_file(unit)) {
		if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
			if (!S_ISREG(status.st_mode)) {
				*out = TKB_ENTRY_STATE_UNSAFE;
				return 0;
			}
			return match_files(&place, out, err);
		}
	} else if (parent >= 0) {
		folder = tkb_fd_open(parent, name,
		                     O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		place.fd = folder;
		if (folder >= 0) {
			rc = match_files(&place, out, err);
			if (*out == TKB_ENTRY_STATE_PRESENT && is_stale)
				*out = TKB_ENTRY_STATE_MOVED;
			return rc;
		}
	}
	return tkb_inspect_unopened(root, unit->name, out, err);
}
