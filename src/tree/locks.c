/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

static void close_walk(FTS **walk)
{
	if (*walk != NULL)
		(void)fts_close(*walk);
}

static bool is_held(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	TKB_AUTO(tkb_fd_close_at) int fd = -1;

	fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return true;
	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int tkb_tree_find_lock(const char *root,
                       int (*check)(void *self, struct tkb_error *err),
                       void *self, char out[TKB_LOCK_PATH_SIZE],
                       struct tkb_error *err)
{
	char path[TKB_LOCK_PATH_SIZE];
	char *const paths[] = { path, NULL };
	TKB_AUTO(close_walk) FTS *walk = NULL;
	FTSENT *item;
	int rc;

	if (snprintf(path, sizeof(path), "%s", root) >= (int)sizeof(path))
		return TKB_MISS;
	walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	if (walk == NULL)
		return errno == ENOMEM ? tkb_fail_nomem(err) : TKB_MISS;
	while ((item = fts_read(walk)) != NULL) {
		rc = check(self, err);
		if (rc < 0)
			return rc;
		if (item->fts_info == FTS_D &&
		    strcmp(item->fts_name, ".tkbundle") == 0)
			(void)fts_set(walk, item, FTS_SKIP);
		else if (item->fts_info != FTS_D && item->fts_info != FTS_DP &&
		         item->fts_pathlen < TKB_LOCK_PATH_SIZE &&
		         tkb_name_ends_with(item->fts_name, ".lock") &&
		         is_held(item->fts_path)) {
			memcpy(out, item->fts_path, item->fts_pathlen + 1U);
			return 0;
		}
	}
	return TKB_MISS;
}
