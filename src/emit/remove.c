/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "emit/inspect.h"

/* Open the entry's folder, unless it is a link. */
static int open_scanned_folder(const struct tkb_scanned_entry *found)
{
	return tkb_fd_open_folder(found->root->fd, found->entry.key);
}

static int fail_remove(const struct tkb_scanned_entry *found, const char *name,
                       struct tkb_error *err)
{
	return tkb_fail_errno(err, "cannot remove '%s' in '%s'", name,
	                      found->root->path);
}

static int fail_busy(struct tkb_error *err)
{
	return tkb_fail_entry(err, TKB_REASON_BUSY,
	                      "a compiler is writing there");
}

/* Fail if a compiler is writing to the folder. */
static int check_writer(const struct tkb_scanned_entry *found,
                        struct tkb_error *err)
{
	bool has_writer = false;
	int rc;

	rc = tkb_inspect_writer(found->root, found->entry.key, &has_writer,
	                        err);
	return rc == 0 && has_writer ? fail_busy(err) : rc;
}

/*
 * A kernel exists if its group file does; any other entry, if its folder does.
 * Returns 0, TKB_MISS, or a failure to find out.
 */
static int check_is_there(const struct tkb_scanned_entry *found,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int folder = open_scanned_folder(found);

	if (folder >= 0 && (found->group_name == NULL ||
	                    tkb_fd_exists(folder, found->group_name)))
		return 0;
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return TKB_MISS;
	return fail_remove(found, found->entry.key, err);
}

int tkb_remove_check(struct tkb_loader *loader,
                     const struct tkb_scanned_entry *found,
                     struct tkb_error *err)
{
	int rc;

	rc = check_is_there(found, err);
	if (rc != 0)
		return rc;
	rc = check_writer(found, err);
	if (rc < 0)
		return rc;
	return tkb_scanned_entry_check(loader, found, err);
}

int tkb_remove_hide(struct tkb_stage *stage, struct tkb_loader *loader,
                    const struct tkb_scanned_entry *found,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	int rc;

	rc = tkb_stage_lock(stage, &lock, err);
	if (rc == TKB_ERR_CANCELLED)
		return rc;
	rc = tkb_remove_check(loader, found, err);
	if (rc != 0 || found->group_name == NULL)
		return rc;
	folder = open_scanned_folder(found);
	if (folder >= 0 && unlinkat(folder, found->group_name, 0) == 0)
		return 0;
	return errno == ENOENT ? TKB_MISS
	                       : fail_remove(found, found->entry.key, err);
}

/* Remove the file that was scanned, but not one that has replaced it. */
static int remove_file(int folder, const struct tkb_scanned_entry *found,
                       size_t index, struct tkb_error *err)
{
	const char *name = found->files[index].name;
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!tkb_stamp_is_of(&found->loaded[index].stamp, &status) ||
	     unlinkat(folder, name, 0) == 0))
		return 0;
	return errno == ENOENT ? 0 : fail_remove(found, name, err);
}

static int remove_files(int folder, const struct tkb_scanned_entry *found,
                        struct tkb_error *err)
{
	int first = 0;

	for (size_t i = 0; i < found->entry.file_count; i++) {
		int rc;

		if (found->group_name != NULL &&
		    strcmp(found->files[i].name, found->group_name) == 0)
			continue;
		rc = remove_file(folder, found, i, first == 0 ? err : NULL);
		if (first == 0)
			first = rc;
	}
	return first;
}

int tkb_remove_rest(struct tkb_stage *stage,
                    const struct tkb_scanned_entry *found,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	int rc;

	/* Lock if possible: hidden files must be removed in any case. */
	if (tkb_stage_lock(stage, &lock, NULL) < 0)
		lock = -1;
	folder = open_scanned_folder(found);
	if (folder < 0)
		return errno == ENOENT
		               ? 0
		               : fail_remove(found, found->entry.key, err);
	rc = found->group_name == NULL ? TKB_MISS : check_is_there(found, err);
	if (rc != TKB_MISS)
		return rc < 0 ? rc : fail_busy(err);
	rc = check_writer(found, err);
	if (rc < 0)
		return rc;
	rc = remove_files(folder, found, err);
	/* If an entry has appeared meanwhile, it may have lost files: make
	   it a miss. */
	if (found->group_name != NULL)
		(void)unlinkat(folder, found->group_name, 0);
	/* This fails if the folder contains anything else. */
	(void)unlinkat(found->root->fd, found->entry.key, AT_REMOVEDIR);
	return rc;
}
