/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "cache/names.h"
#include "emit/mark.h"

#define NS_PER_US ((uint64_t)1000)

enum {
	OLD_S = 24 * 60 * 60, /* if the file system has no locks, an older
	                         stage is dead */
	FIRST_NAP_US = 100,   /* between two tries to get the lock */
	NAP_LIMIT_US = 10 * 1000,
	PART_NUMBERS = 64 /* consecutive numbers in one part */
};

static const char stage_prefix[] = "stage-";

void tkb_stage_init(struct tkb_stage *stage, const struct tkb_root *root)
{
	*stage = (struct tkb_stage){
		.root = root,
		.own_fd = -1,
		.fd = -1,
		.lock_fd = -1,
		.share = TKB_SHARE_INIT,
	};
	for (size_t i = 0; i < TKB_STAGE_PARTS; i++)
		atomic_init(&stage->parts[i], -1);
}

/*
 * Remove folder `name` and its contents, as far as possible: a later emit removes
 * what stays. A stage's lock goes last: without it, the owner counts as dead.
 */
static void remove_folder(int dir_fd, const char *name, const char *lock)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(dir_fd, name, &dir, NULL) == 0) {
		for (item = readdir(dir); item != NULL; item = readdir(dir)) {
			if (tkb_name_is_dots(item->d_name) ||
			    strcmp(item->d_name, lock) == 0)
				continue;
			/* A unit may have nested folders. */
			if (unlinkat(dirfd(dir), item->d_name, 0) < 0)
				remove_folder(dirfd(dir), item->d_name, "");
		}
		(void)unlinkat(dirfd(dir), lock, 0);
	}
	(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

static void remove_stage(int own_fd, const char *name)
{
	remove_folder(own_fd, name, "lock");
}

static bool is_old(int dir_fd)
{
	struct stat status;

	return fstat(dir_fd, &status) == 0 &&
	       status.st_mtim.tv_sec < time(NULL) - OLD_S;
}

static bool lacks_locks(int number)
{
	return number == ENOLCK || number == EOPNOTSUPP || number == ENOSYS ||
	       number == EINVAL;
}

/*
 * May we continue without the lock? Yes if the file system has no locks, if we
 * may not take it, or if another process keeps it for too long. After any other
 * failure, continuing could mix two compiles.
 */
static bool can_do_without_lock(int number)
{
	return lacks_locks(number) || number == EACCES || number == EPERM ||
	       number == EROFS || number == EWOULDBLOCK;
}

/*
 * Is the stage's owner dead? If we do not hold the root's lock (`is_locked`), a
 * stage without a lock file may just be being made, so it must also be old.
 */
static bool is_dead(int own_fd, const char *name, bool is_locked)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;

	dir = tkb_fd_open_folder(own_fd, name);
	if (dir < 0)
		return false;
	lock = tkb_fd_open(dir, "lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (lock < 0)
		return errno == ENOENT && (is_locked || is_old(dir));
	if (flock(lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	return lacks_locks(errno) && is_old(dir);
}

static void remove_dead_stages(int own_fd, bool is_locked)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(own_fd, ".", &dir, NULL) < 0)
		return;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (tkb_begins_with(item->d_name, stage_prefix) &&
		    is_dead(own_fd, item->d_name, is_locked))
			remove_stage(own_fd, item->d_name);
	}
}

static bool has_stages(int own_fd)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(own_fd, ".", &dir, NULL) < 0)
		return false;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (tkb_begins_with(item->d_name, stage_prefix))
			return true;
	}
	return false;
}

/* Locking needs only read permission, so another user's file will do. */
static int open_root_lock(int own_fd)
{
	int fd = tkb_share_open_common(own_fd, "lock", O_RDWR);

	if (fd < 0)
		fd = tkb_fd_open(own_fd, "lock",
		                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	return fd;
}

/* Sleep, and double the time for the next sleep. */
static void sleep_longer(uint64_t *nap_us)
{
	const struct timespec time = { .tv_nsec = (long)(*nap_us * NS_PER_US) };

	(void)nanosleep(&time, NULL);
	*nap_us = *nap_us < NAP_LIMIT_US / 2 ? *nap_us * 2 : NAP_LIMIT_US;
}

/*
 * Wait for the lock, but not forever, because anybody who can read the file can
 * hold it. Once a wait has timed out, later calls with this stage do not wait.
 */
static int wait_for_lock(struct tkb_stage *stage, int fd, struct tkb_error *err)
{
	const uint64_t limit_ms =
		atomic_load(&stage->has_given_up) ? 0 : TKB_STAGE_LOCK_MS;
	const uint64_t end = tkb_now_ns() + limit_ms * TKB_NS_PER_MS;
	uint64_t nap_us = FIRST_NAP_US;
	int rc = 0;

	while (rc == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		if (errno == EWOULDBLOCK && tkb_now_ns() >= end) {
			atomic_store(&stage->has_given_up, true);
			return -1;
		}
		if (stage->watcher != NULL)
			rc = tkb_watcher_check(stage->watcher, err);
		if (rc == 0)
			sleep_longer(&nap_us);
	}
	if (rc == 0)
		atomic_store(&stage->has_given_up, false);
	return rc;
}

int tkb_stage_lock(struct tkb_stage *stage, int *lock_out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = open_root_lock(stage->own_fd);
	int rc = -1;

	if (fd >= 0)
		rc = wait_for_lock(stage, fd, err);
	if (rc == 0) {
		*lock_out = fd;
		fd = -1;
		return 0;
	}
	if (rc == TKB_ERR_CANCELLED || can_do_without_lock(errno))
		return rc == TKB_ERR_CANCELLED ? rc : 0;
	return tkb_fail_errno(err, "cannot lock '%s/%s'", stage->root->path,
	                      TKB_OWN_FOLDER);
}

/* Open a part. Another thread may make it meanwhile. */
static int open_part(const struct tkb_stage *stage, size_t part)
{
	struct tkb_share share;
	char name[sizeof("part-") + TKB_STAGE_NUMBER_SIZE];
	int fd;

	(void)snprintf(name, sizeof(name), "part-%zu", part);
	tkb_share_of(stage->own_fd, &share);
	fd = tkb_share_make_folder(&share, stage->fd, name);
	return fd >= 0 || errno != EEXIST ? fd
	                                  : tkb_fd_open_folder(stage->fd, name);
}

int tkb_stage_part(struct tkb_stage *stage, size_t number)
{
	const size_t part = number / PART_NUMBERS % TKB_STAGE_PARTS;
	int known = atomic_load(&stage->parts[part]);
	int fd;

	if (part == 0)
		return stage->fd;
	if (known >= 0)
		return known;
	fd = open_part(stage, part);
	if (fd < 0)
		fd = stage->fd;
	/* All threads must use the same folder for a number. */
	if (atomic_compare_exchange_strong(&stage->parts[part], &known, fd))
		return fd;
	if (fd != stage->fd)
		(void)close(fd);
	return known;
}

void tkb_stage_format_number(size_t number, char out[TKB_STAGE_NUMBER_SIZE])
{
	(void)snprintf(out, TKB_STAGE_NUMBER_SIZE, "%zu", number);
}

/* Set an access time of 0, which means that the file was never read. */
static void stamp_unused(int fd)
{
	const struct timespec times[] = { { .tv_sec = 0 },
		                          { .tv_nsec = UTIME_OMIT } };

	(void)futimens(fd, times);
}

int tkb_stage_write_file(const struct tkb_stage *stage, int dir_fd,
                         const char *name, struct tkb_bytes bytes,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int closing;
	int rc;

	fd = tkb_fd_open(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
	                 0666);
	if (fd < 0)
		return tkb_fail_errno(err, "cannot write '%s' in '%s'", name,
		                      stage->root->path);
	tkb_share_apply(&stage->share, fd);
	rc = tkb_fd_write_all(fd, bytes, name, err);
	if (rc < 0)
		return rc;
	if (stage->root->tree != NULL || tkb_name_is_group(name))
		stamp_unused(fd);
	/* On NFS or with quotas, close() may be the first call to fail. */
	closing = fd;
	fd = -1;
	if (close(closing) < 0)
		return tkb_fail_errno(err, "cannot write '%s' in '%s'", name,
		                      stage->root->path);
	return 0;
}

/*
 * The mark of bundle `id` for the stage's root. The texts in a tree contain the
 * path of its root, so a tree's mark depends on the path and the folder: a
 * copied or moved tree is not trusted. Returns false if the mark cannot be
 * made.
 */
static bool make_mark(const struct tkb_stage *stage,
                      const struct tkb_digest *id, struct tkb_digest *out)
{
	const struct tkb_bytes path = tkb_text(stage->root->path);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(path.size + 2 * sizeof(*id));
	struct stat status;

	*out = *id;
	if (stage->root->tree == NULL)
		return true;
	if (fstat(stage->root->fd, &status) < 0)
		return false;
	tkb_buf_add(&text, (struct tkb_bytes){ id->bytes, sizeof(id->bytes) });
	tkb_buf_add_number(&text, status.st_ino);
	tkb_buf_add(&text, path);
	return tkb_buf_check(&text, NULL) == 0 &&
	       tkb_digest_of(tkb_buf_bytes(&text), out, NULL) == 0;
}

void tkb_stage_trust(const struct tkb_stage *stage, const struct tkb_digest *id)
{
	struct tkb_digest mark;

	if (stage->own_fd >= 0 && !stage->is_trusted &&
	    make_mark(stage, id, &mark))
		tkb_mark_set(stage->own_fd, &mark);
}

void tkb_stage_begin(struct tkb_stage *stage, const struct tkb_digest *id,
                     bool clean)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	struct tkb_digest mark;

	stage->own_fd = tkb_own_folder_open(stage->root->fd);
	if (stage->own_fd < 0)
		return;
	stage->is_trusted = id != NULL && make_mark(stage, id, &mark) &&
	                    tkb_mark_is_set(stage->own_fd, &mark);
	if (!clean || !has_stages(stage->own_fd))
		return;
	/* If something cannot be removed, a later emit may remove it. */
	if (tkb_stage_lock(stage, &lock, NULL) != TKB_ERR_CANCELLED)
		remove_dead_stages(stage->own_fd, lock >= 0);
}

int tkb_stage_open_own(struct tkb_stage *stage, struct tkb_error *err)
{
	const int root = stage->root->fd;
	struct tkb_share share;

	tkb_share_of(root, &stage->share);
	share = tkb_share_in_common(&stage->share);
	if (stage->own_fd >= 0)
		return 0;
	stage->own_fd = tkb_share_publish_folder(&share, root, TKB_OWN_FOLDER);
	if (stage->own_fd < 0 && errno != EEXIST)
		return tkb_fail_errno(err, "cannot write in '%s'",
		                      stage->root->path);
	if (stage->own_fd < 0)
		stage->own_fd = tkb_own_folder_open(root);
	if (stage->own_fd < 0)
		return tkb_fail_errno(err, "cannot open '%s/%s'",
		                      stage->root->path, TKB_OWN_FOLDER);
	return 0;
}

/*
 * The root's lock is held, so that a stage without its own lock cannot be taken
 * for abandoned.
 */
static int make_stage(struct tkb_stage *stage, struct tkb_error *err)
{
	struct tkb_share share;

	tkb_share_of(stage->own_fd, &share);
	stage->fd = tkb_share_make_folder(&share, stage->own_fd, stage->name);
	if (stage->fd < 0)
		return tkb_fail_errno(err, "cannot write in '%s'",
		                      stage->root->path);
	stage->lock_fd =
		tkb_fd_open(stage->fd, "lock",
	                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
	if (stage->lock_fd >= 0)
		tkb_share_apply(&share, stage->lock_fd);
	if (stage->lock_fd < 0 ||
	    (flock(stage->lock_fd, LOCK_EX | LOCK_NB) < 0 &&
	     !lacks_locks(errno)))
		return tkb_fail_errno(err, "cannot write in '%s/%s'",
		                      stage->root->path, TKB_OWN_FOLDER);
	return 0;
}

int tkb_stage_open(struct tkb_stage *stage, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	char random[TKB_RANDOM_NAME_SIZE];
	int rc;

	rc = tkb_random_name(random, err);
	if (rc < 0)
		return rc;
	rc = tkb_stage_open_own(stage, err);
	if (rc < 0)
		return rc;
	if (tkb_stage_lock(stage, &lock, NULL) == TKB_ERR_CANCELLED)
		return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	(void)snprintf(stage->name, sizeof(stage->name), "%s%s", stage_prefix,
	               random);
	rc = make_stage(stage, err);
	if (rc < 0) {
		const int number = errno;

		remove_stage(stage->own_fd, stage->name);
		tkb_fd_close_at(&stage->fd);
		tkb_fd_close_at(&stage->lock_fd);
		errno = number;
	}
	return rc;
}

void tkb_stage_close(struct tkb_stage *stage)
{
	if (stage->fd >= 0)
		remove_stage(stage->own_fd, stage->name);
	for (size_t i = 0; i < TKB_STAGE_PARTS; i++) {
		const int part = atomic_load(&stage->parts[i]);

		if (part >= 0 && part != stage->fd)
			(void)close(part);
	}
	tkb_fd_unlock_at(&stage->lock_fd);
	/* NFS and FUSE keep an open file under another name until now. */
	if (stage->fd >= 0)
		(void)unlinkat(stage->own_fd, stage->name, AT_REMOVEDIR);
	tkb_fd_close_at(&stage->fd);
	tkb_fd_close_at(&stage->own_fd);
}
