/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "cache/folder.h"
#include "cache/key.h"
#include "cache/metadata.h"
#include "cache/names.h"
#include "emit/remove.h"

enum {
	OLD_S = 24 * 60 * 60 /* no compile takes a day */
};

static bool is_old(const struct stat *status)
{
	return status->st_mtim.tv_sec < time(NULL) - OLD_S;
}

/* Is `name` what a compiler calls a file of a kernel? */
static bool is_kernel_file(const char *name)
{
	const char *const *binaries = tkb_metadata_binaries("");
	const char *extension = tkb_name_extension(name);

	if (tkb_name_is_lean_drop(name) || strcmp(extension, "json") == 0)
		return true;
	for (size_t i = 0; binaries[i] != NULL; i++) {
		if (strcmp(extension, binaries[i]) == 0)
			return true;
	}
	return false;
}

/* Are `a` and `b` files of one kernel, "x.ptx" and "x.json"? */
static bool is_same_kernel(const char *a, const char *b)
{
	const size_t length = (size_t)(tkb_name_extension(a) - a);

	return length == (size_t)(tkb_name_extension(b) - b) &&
	       strncmp(a, b, length) == 0;
}

/*
 * A folder that is called as a key is need not be a compiler's. What goes is
 * nothing but files of one kernel, all of them old.
 */
static bool is_leftover(const struct tkb_folder *folder)
{
	const char *first = tkb_folder_next(folder, NULL);
	struct stat status;

	if (folder->group_count + folder->module_count +
	            folder->autotune_count !=
	    0)
		return false;
	if (fstat(folder->fd, &status) < 0 || !is_old(&status))
		return false;
	for (const char *name = first; name != NULL;
	     name = tkb_folder_next(folder, name)) {
		if (!is_kernel_file(name) || !is_same_kernel(name, first))
			return false;
		if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) <
		            0 ||
		    !S_ISREG(status.st_mode) || !is_old(&status))
			return false;
	}
	return true;
}

/* Each is looked at once more: a compile may have begun just now. */
static void remove_leftover(const struct tkb_root *root,
                            const struct tkb_folder *folder)
{
	struct stat status;

	for (const char *name = tkb_folder_next(folder, NULL); name != NULL;
	     name = tkb_folder_next(folder, name)) {
		if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) ==
		            0 &&
		    is_old(&status))
			(void)unlinkat(folder->fd, name, 0);
	}
	(void)unlinkat(root->fd, folder->key, AT_REMOVEDIR);
}

/* What cannot be looked at or removed stays: it does no harm. */
static void look_at(struct tkb_stage *stage, const char *key,
                    struct tkb_buf *names, bool is_dry_run, uint64_t *count)
{
	TKB_AUTO(tkb_folder_close) struct tkb_folder folder = { 0 };
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;

	if (!is_dry_run &&
	    tkb_stage_lock(stage, &lock, NULL) == TKB_ERR_CANCELLED)
		return;
	if (tkb_folder_open(stage->root->fd, key, names, &folder, NULL) < 0 ||
	    !is_leftover(&folder))
		return;
	(*count)++;
	if (!is_dry_run)
		remove_leftover(stage->root, &folder);
}

int tkb_remove_leftovers(struct tkb_stage *stage, struct tkb_buf *names,
                         bool is_dry_run, uint64_t *count,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	rc = tkb_dir_open(stage->root->fd, ".", &dir, err);
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc == 0 && tkb_key_is_valid(item->d_name))
			look_at(stage, item->d_name, names, is_dry_run, count);
	}
	return rc < 0 ? rc : 0;
}
