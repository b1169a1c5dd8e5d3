/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/fd.h"

#define HOLD_NAME "runs"

struct tkb_hold {
	struct tkb_roots roots; /* one root */
	struct tkb_stage stage;
	int fd; /* owned; locked */
};

void tkb_hold_close(struct tkb_hold *hold)
{
	if (hold == NULL)
		return;
	tkb_fd_close_at(&hold->fd);
	tkb_stage_close(&hold->stage);
	tkb_roots_release(&hold->roots);
	free(hold);
}

TKB_AUTO_POINTER(close_at, struct tkb_hold, tkb_hold_close)

/* If nobody else holds the file, set its time. Then take a shared lock. */
static int lock_shared(struct tkb_hold *hold, struct tkb_error *err)
{
	const int own = hold->stage.own_fd;

	hold->fd = tkb_share_open_common(own, HOLD_NAME, O_RDWR);
	if (hold->fd < 0)
		hold->fd = tkb_fd_open(own, HOLD_NAME,
		                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (hold->fd < 0)
		return tkb_fail_errno(err, "cannot write in '%s'",
		                      hold->roots.items[0].path);
	if (flock(hold->fd, LOCK_EX | LOCK_NB) == 0)
		(void)futimens(hold->fd, NULL);
	if (flock(hold->fd, LOCK_SH) < 0)
		return tkb_fail_errno(err, "cannot lock '%s/.tkbundle/%s'",
		                      hold->roots.items[0].path, HOLD_NAME);
	return 0;
}

int tkb_hold_open(const char *root, struct tkb_hold **out,
                  struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_hold *hold = tkb_alloc_array(1, sizeof(*hold));
	int rc;

	if (hold == NULL)
		return tkb_fail_nomem(err);
	hold->fd = -1;
	tkb_stage_init(&hold->stage, NULL);
	rc = tkb_root_make(root, false, 0, false, &hold->roots, err);
	if (rc < 0)
		return rc;
	if (!tkb_roots_exist(&hold->roots))
		return TKB_MISS;
	tkb_stage_init(&hold->stage, &hold->roots.items[0]);
	rc = tkb_stage_open_own(&hold->stage, err);
	if (rc == 0)
		rc = lock_shared(hold, err);
	if (rc == 0)
		*out = tkb_take(hold);
	return rc;
}

bool tkb_hold_is_there(const struct tkb_stage *stage, int64_t *since_ns)
{
	TKB_AUTO(tkb_fd_unlock_at) int fd = -1;
	struct stat status;

	if (stage->own_fd < 0)
		return false;
	fd = tkb_fd_open(stage->own_fd, HOLD_NAME,
	                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 ||
	    errno != EWOULDBLOCK || fstat(fd, &status) < 0)
		return false;
	*since_ns = (int64_t)status.st_mtim.tv_sec * 1000000000;
	return true;
}
