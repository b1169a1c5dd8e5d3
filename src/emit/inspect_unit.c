/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "cache/names.h"
#include "tree/moved.h"
#include "tree/unit.h"
#include "emit/inspect.h"
#include "emit/unit.h"

/* What a file of a unit is, where it should be. */
enum match {
	MATCH_SAME,
	MATCH_OTHER, /* of another compile */
	MATCH_TORN   /* missing, empty, damaged, or of another root */
};

/* The digest of what the file would be in a bundle. */
static int digest_of(struct tkb_loader *loader, const struct tkb_entry *unit,
                     const struct tkb_file *file, struct tkb_digest *out,
                     bool *is_moved, struct tkb_error *err)
{
	const struct tkb_text_place at = { .tree = unit->tree,
		                           .folder = unit->folder };
	struct tkb_bytes bytes = tkb_buf_bytes(&loader->scratch);
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
		/* What cannot be scrubbed is not what a bundle holds. */
		if (rc == 0)
			bytes = tkb_buf_bytes(&loader->text);
	}
	return tkb_hasher_digest(&loader->hasher, bytes, out, err);
}

/* Read the file and compare it. One that names another root is of no use here. */
static int compare_bytes(struct tkb_loader *loader, int dir_fd,
                         const struct tkb_entry *unit,
                         const struct tkb_file *file, enum match *out,
                         struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	struct tkb_digest digest;
	struct stat status;
	bool is_moved = false;
	int rc;

	tkb_buf_reset(&loader->scratch);
	rc = tkb_fd_read_file(dir_fd, file->name, TKB_FILE_SIZE_LIMIT,
	                      &loader->scratch, &status, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	*out = MATCH_TORN;
	if (rc < 0)
		return 0;
	rc = digest_of(loader, unit, file, &digest, &is_moved, err);
	if (rc < 0)
		return rc;
	if (tkb_digest_equal(&digest, &file->digest))
		*out = is_moved ? MATCH_TORN : MATCH_SAME;
	else if (file->sentinels != 0)
		*out = MATCH_OTHER;
	return 0;
}

static int match_file(struct tkb_loader *loader, int dir_fd,
                      const struct tkb_entry *unit, const struct tkb_file *file,
                      bool is_trusted, enum match *out, struct tkb_error *err)
{
	struct stat status;

	*out = MATCH_TORN;
	if (fstatat(dir_fd, file->name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode) ||
	    (status.st_size == 0 && file->size != 0))
		return 0;
	if (file->sentinels != 0)
		return compare_bytes(loader, dir_fd, unit, file, out, err);
	*out = (uint64_t)status.st_size == file->size ? MATCH_SAME
	                                              : MATCH_OTHER;
	if (*out == MATCH_OTHER || is_trusted)
		return 0;
	return compare_bytes(loader, dir_fd, unit, file, out, err);
}

static int match_files(struct tkb_loader *loader, int dir_fd,
                       const struct tkb_entry *unit, bool is_trusted,
                       enum tkb_entry_state *out, struct tkb_error *err)
{
	int rc;

	*out = TKB_ENTRY_STATE_PRESENT;
	for (size_t i = 0; i < unit->file_count; i++) {
		enum match match;

		rc = match_file(loader, dir_fd, unit, &unit->files[i],
		                is_trusted, &match, err);
		if (rc < 0)
			return rc;
		if (match == MATCH_TORN)
			*out = TKB_ENTRY_STATE_BROKEN;
		/* Even if parts of it are damaged: we have no others. */
		if (match == MATCH_OTHER) {
			*out = TKB_ENTRY_STATE_PRESENT;
			return 0;
		}
	}
	return 0;
}

static bool is_nothing(int number)
{
	return number == ENOENT;
}

static bool is_in_the_way(int number)
{
	return number == ENOTDIR || number == ELOOP;
}

int tkb_inspect_unit(struct tkb_loader *loader, const struct tkb_root *root,
                     const struct tkb_entry *unit, bool is_trusted,
                     enum tkb_entry_state *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int parent = -1;
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	const char *name = NULL;
	struct stat status;

	parent = tkb_unit_open_parent(root->fd, NULL, unit->name, &name);
	if (parent >= 0 && tkb_unit_is_file(unit)) {
		if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
			if (!S_ISREG(status.st_mode)) {
				*out = TKB_ENTRY_STATE_UNSAFE;
				return 0;
			}
			return match_files(loader, root->fd, unit, is_trusted,
			                   out, err);
		}
	} else if (parent >= 0) {
		folder = tkb_fd_open(parent, name,
		                     O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (folder >= 0)
			return match_files(loader, folder, unit, is_trusted,
			                   out, err);
	}
	if (!is_nothing(errno) && !is_in_the_way(errno))
		return tkb_fail_errno(err, "cannot look at '%s/%s'", root->path,
		                      unit->name);
	*out = is_nothing(errno) ? TKB_ENTRY_STATE_ABSENT
	                         : TKB_ENTRY_STATE_UNSAFE;
	return 0;
}
