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
	OLD_S = 24 * 60 * 60 /* no compile takes this long */
};

static bool is_old(const struct stat *status)
{
	return status->st_mtim.tv_sec < time(NULL) - OLD_S;
}

/* Does `name` look like a kernel's file from a compiler? */
static bool is_kernel_file(const char *name)
{
	return tkb_name_is_lean_drop(name) ||
	       strcmp(tkb_name_extension(name), "json") == 0 ||
	       tkb_metadata_is_binary("", name);
}

/* Are `a` and `b` files of one kernel, as "x.ptx" and "x.json" are? */
static bool is_same_kernel(const char *a, const char *b)
{
	const size_t length = (size_t)(tkb_name_extension(a) - a);

	return length == (size_t)(tkb_name_extension(b) - b) &&
	       strncmp(a, b, length) == 0;
}

/*
 * A folder may have a name like a key and still belong to somebody else. Remove
 * it only if it contains nothing but old files of one kernel.
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

/* Stat each file again: a compile may have begun meanwhile. */
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

/* If a folder cannot be read or removed, leave it: it does no harm. */
static void try_folder(struct tkb_stage *stage, const char *key,
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
			try_folder(stage, item->d_name, names, is_dry_run,
			           count);
	}
	return rc < 0 ? rc : 0;
}
