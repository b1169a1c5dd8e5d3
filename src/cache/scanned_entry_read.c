/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/entry.h"
#include "cache/scanned_entry.h"
#include "cache/key.h"
#include "cache/names.h"
#include "cache/strip.h"
#include "tree/unit.h"

struct tkb_stamp tkb_stamp_of(const struct stat *status)
{
	return (struct tkb_stamp){ .inode = status->st_ino,
		                   .size = status->st_size,
		                   .modified = status->st_mtim,
		                   .changed = status->st_ctim };
}

int tkb_fail_look(enum tkb_reason absent, const char *what, const char *name,
                  struct tkb_error *err)
{
	int rc;

	if (errno == ENOENT || errno == ENOTDIR)
		return tkb_fail_entry(err, absent, "'%s' %s", name, what);
	rc = tkb_fail_errno(err, "cannot look at '%s'", name);
	if (rc == TKB_ERR_IO && err != NULL)
		err->reason = TKB_REASON_UNREADABLE;
	return rc;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool tkb_stamp_is_of(const struct tkb_stamp *stamp, const struct stat *status)
{
	return status->st_ino == stamp->inode &&
	       status->st_size == stamp->size &&
	       same_time(&status->st_mtim, &stamp->modified);
}

static bool stamp_equal(const struct tkb_stamp *a, const struct tkb_stamp *b)
{
	return a->inode == b->inode && a->size == b->size &&
	       same_time(&a->modified, &b->modified) &&
	       same_time(&a->changed, &b->changed);
}

int tkb_scanned_entry_read_into(struct tkb_buf *buf, int dir_fd,
                                const char *name, uint64_t limit,
                                struct tkb_stamp *stamp_out,
                                struct tkb_error *err)
{
	struct stat status;
	int rc;

	tkb_buf_reset(buf);
	rc = tkb_fd_read_file(dir_fd, name, limit, buf, &status, err);
	if (rc < 0)
		return rc;
	*stamp_out = tkb_stamp_of(&status);
	return 0;
}

enum {
	PATH_SIZE =
		TKB_UNIT_PATH_LIMIT + 2 /* of an entry's file, with a zero */
};

_Static_assert(PATH_SIZE > TKB_KEY_SIZE + TKB_NAME_LIMIT,
               "a kernel's file has a shorter path");

/* "<folder>/<name>": needs one system call, and no open folder. */
static void format_path(char out[PATH_SIZE],
                        const struct tkb_scanned_entry *found, const char *name)
{
	(void)snprintf(out, PATH_SIZE, "%s/%s",
	               tkb_root_folder(found->root, &found->entry), name);
}

/*
 * After a power failure, a file may be empty or end in zeros. Intact IR and PTX
 * are never so. But a source may well be empty, and a file of any other kind
 * may be both.
 */
static bool is_written(const char *name, struct tkb_bytes bytes)
{
	const char *text = bytes.data;

	if (!tkb_name_is_lean_drop(name) ||
	    strcmp(tkb_name_extension(name), "source") == 0)
		return true;
	return bytes.size != 0 && text[bytes.size - 1] != '\0';
}

static int check_contents(const struct tkb_scanned_entry *found,
                          const char *name, struct tkb_bytes bytes,
                          struct tkb_error *err)
{
	int rc;

	if (found->entry.kind != TKB_KIND_KERNEL)
		return 0;
	rc = tkb_metadata_check_binary(&found->metadata, name, bytes, err);
	if (rc == 0 && !is_written(name, bytes))
		return tkb_fail_entry(err, TKB_REASON_BINARY,
		                      "'%s' was never written", name);
	return rc;
}

/* Check that the file is the one that was scanned. */
static int check_stamp(const struct tkb_scanned_entry *found, size_t index,
                       struct tkb_stamp stamp, struct tkb_error *err)
{
	if (!stamp_equal(&stamp, &found->loaded[index].stamp))
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "'%s' changed while it was read",
		                      found->files[index].name);
	return 0;
}

int tkb_scanned_entry_read(struct tkb_loader *loader,
                           const struct tkb_scanned_entry *found, size_t index,
                           struct tkb_bytes *out, struct tkb_error *err)
{
	struct tkb_file *file = &found->files[index];
	char path[PATH_SIZE];
	struct tkb_stamp stamp = { 0 };
	int rc;

	if (found->loaded[index].bytes.data != NULL) {
		*out = found->loaded[index].bytes;
		return 0;
	}
	format_path(path, found, file->name);
	rc = tkb_scanned_entry_read_into(
		&loader->scratch, found->root->fd, path,
		tkb_entry_file_limit(&found->entry), &stamp, err);
	if (rc < 0)
		return rc;
	rc = check_stamp(found, index, stamp, err);
	if (rc < 0)
		return rc;
	if (loader->strips && found->entry.kind == TKB_KIND_KERNEL)
		tkb_strip_locations(file->name, loader->scratch.data,
		                    loader->scratch.size);
	*out = tkb_buf_bytes(&loader->scratch);
	rc = tkb_hasher_digest(&loader->hasher, *out, &file->digest, err);
	return rc < 0 ? rc : check_contents(found, file->name, *out, err);
}

/* Only files of units may be large, and nothing but their digest is checked. */
static int hash_file(struct tkb_loader *loader,
                     const struct tkb_scanned_entry *found, size_t index,
                     struct tkb_error *err)
{
	const struct tkb_sink sink = tkb_hasher_sink(&loader->hasher);
	struct tkb_file *file = &found->files[index];
	char path[PATH_SIZE];
	struct stat status;
	int rc;

	format_path(path, found, file->name);
	rc = tkb_hasher_begin(&loader->hasher, err);
	if (rc == 0)
		rc = tkb_fd_send_file(found->root->fd, path,
		                      tkb_entry_file_limit(&found->entry),
		                      &sink, &status, err);
	if (rc < 0)
		return rc;
	rc = check_stamp(found, index, tkb_stamp_of(&status), err);
	return rc < 0 ? rc
	              : tkb_hasher_end(&loader->hasher, &file->digest, err);
}

int tkb_scanned_entry_hash(struct tkb_loader *loader,
                           const struct tkb_scanned_entry *found, size_t index,
                           struct tkb_error *err)
{
	struct tkb_bytes bytes;

	return found->entry.kind == TKB_KIND_UNIT &&
	                       found->loaded[index].bytes.data == NULL
	               ? hash_file(loader, found, index, err)
	               : tkb_scanned_entry_read(loader, found, index, &bytes,
	                                        err);
}

int tkb_scanned_entry_read_all(struct tkb_loader *loader,
                               const struct tkb_scanned_entry *found,
                               struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < found->entry.file_count && rc == 0; i++)
		rc = tkb_scanned_entry_hash(loader, found, i, err);
	return rc;
}

static int check_unchanged(const struct tkb_scanned_entry *found, size_t index,
                           struct tkb_error *err)
{
	char path[PATH_SIZE];
	struct stat status;

	format_path(path, found, found->files[index].name);
	if (fstatat(found->root->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return tkb_fail_look(TKB_REASON_BUSY,
		                     "vanished while it was read",
		                     found->files[index].name, err);
	return check_stamp(found, index, tkb_stamp_of(&status), err);
}

/*
 * Check that the group file is unchanged. Two writes may leave the same time
 * stamp, so compare the digest too.
 */
static int check_group(struct tkb_loader *loader,
                       const struct tkb_scanned_entry *found,
                       struct tkb_error *err)
{
	char path[PATH_SIZE];
	struct tkb_stamp stamp = { 0 };
	int rc;

	format_path(path, found, found->group_name);
	rc = tkb_scanned_entry_read_into(&loader->scratch, found->root->fd,
	                                 path, TKB_FILE_SIZE_LIMIT, &stamp,
	                                 err);
	if (rc < 0)
		return rc;
	rc = tkb_hasher_check(&loader->hasher, tkb_buf_bytes(&loader->scratch),
	                      &found->group_digest, err);
	if (rc == TKB_MISS)
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "the group file changed while the entry "
		                      "was read");
	return rc;
}

int tkb_scanned_entry_check(struct tkb_loader *loader,
                            const struct tkb_scanned_entry *found,
                            struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < found->entry.file_count; i++) {
		rc = check_unchanged(found, i, err);
		if (rc < 0)
			return rc;
	}
	if (found->group_name == NULL)
		return 0;
	return check_group(loader, found, err);
}
