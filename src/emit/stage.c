/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"

#define NS_PER_US ((uint64_t)1000)
#define NS_PER_MS ((uint64_t)1000000)

enum {
	OLD_S = 24 * 60 * 60, /* dead for sure where locks do not tell */
	MARK_LIMIT = 1024 * 1024,
	FIRST_NAP_US = 100, /* between two tries for the lock */
	NAP_LIMIT_US = 10 * 1000
};

static const char stage_prefix[] = "stage-";
static const char mark_prefix[] = "trusted-";

void tkb_stage_init(struct tkb_stage *stage, const struct tkb_root *root)
{
	*stage = (struct tkb_stage){
		.root = root,
		.own_fd = -1,
		.fd = -1,
		.lock_fd = -1,
		.share = TKB_SHARE_INIT,
	};
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Remove the files in folder `name`, and the folder. */
static void remove_folder(int dir_fd, const char *name)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(dir_fd, name, &dir, NULL) == 0) {
		for (item = readdir(dir); item != NULL; item = readdir(dir))
			(void)unlinkat(dirfd(dir), item->d_name, 0);
	}
	(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* A stage holds folders of files. What cannot be removed, the next one can. */
static void remove_stage(int own_fd, const char *name)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(own_fd, name, &dir, NULL) < 0)
		return;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (strcmp(item->d_name, ".") == 0 ||
		    strcmp(item->d_name, "..") == 0 ||
		    strcmp(item->d_name, "lock") == 0)
			continue;
		if (unlinkat(dirfd(dir), item->d_name, 0) < 0)
			remove_folder(dirfd(dir), item->d_name);
	}
	/* The lock goes last: without it the rest would look dead. */
	(void)unlinkat(dirfd(dir), "lock", 0);
	(void)unlinkat(own_fd, name, AT_REMOVEDIR);
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
 * Is there no lock because the file system has none, it is not for us, or
 * somebody does not give it back? Else to go on without it would mix two
 * compiles.
 */
static bool can_do_without(int number)
{
	return lacks_locks(number) || number == EACCES || number == EPERM ||
	       number == EROFS || number == EWOULDBLOCK;
}

/*
 * With the root's lock held (`is_locked`) nobody is just making it; without,
 * only its age tells.
 */
static bool is_dead(int own_fd, const char *name, bool is_locked)
{
	TKB_AUTO(tkb_fd_close_at) int dir = -1;
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;

	dir = tkb_fd_open(own_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
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
		if (begins_with(item->d_name, stage_prefix) &&
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
		if (begins_with(item->d_name, stage_prefix))
			return true;
	}
	return false;
}

/* A shared root may have a lock that another user made: reading will do. */
static int open_lock(int own_fd)
{
	int fd = tkb_share_open_common(own_fd, "lock", O_RDWR);

	if (fd < 0)
		fd = tkb_fd_open(own_fd, "lock",
		                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	return fd;
}

/* Sleeps; the next time for longer. */
static void nap(uint64_t *nap_us)
{
	const struct timespec time = { .tv_nsec = (long)(*nap_us * NS_PER_US) };

	(void)nanosleep(&time, NULL);
	*nap_us = *nap_us < NAP_LIMIT_US / 2 ? *nap_us * 2 : NAP_LIMIT_US;
}

/*
 * Who may read the lock can hold it for as long as they like. Once that was too
 * long, whoever comes next in this stage only tries.
 */
static int wait_for_lock(struct tkb_stage *stage, int fd, struct tkb_error *err)
{
	const uint64_t limit_ms =
		atomic_load(&stage->is_lock_kept) ? 0 : TKB_STAGE_LOCK_MS;
	const uint64_t end = tkb_now_ns() + limit_ms * NS_PER_MS;
	uint64_t nap_us = FIRST_NAP_US;
	int rc = 0;

	while (rc == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		if (errno == EWOULDBLOCK && tkb_now_ns() >= end) {
			atomic_store(&stage->is_lock_kept, true);
			return -1;
		}
		if (stage->watcher != NULL)
			rc = tkb_watcher_check(stage->watcher, err);
		if (rc == 0)
			nap(&nap_us);
	}
	if (rc == 0)
		atomic_store(&stage->is_lock_kept, false);
	return rc;
}

int tkb_stage_lock(struct tkb_stage *stage, int *lock_out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = open_lock(stage->own_fd);
	int rc = -1;

	if (fd >= 0)
		rc = wait_for_lock(stage, fd, err);
	if (rc == 0) {
		*lock_out = fd;
		fd = -1;
		return 0;
	}
	if (rc == TKB_ERR_CANCELLED || can_do_without(errno))
		return rc == TKB_ERR_CANCELLED ? rc : 0;
	return tkb_fail_errno(err, "cannot lock '%s/%s'", stage->root->path,
	                      TKB_ROOT_OWN_FOLDER);
}

/* "trusted-<boot id>", or "" where the system does not tell. */
static void mark_name(char out[64])
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	char boot_id[37] = "";

	out[0] = '\0';
	fd = tkb_fd_open(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY,
	                 0);
	if (fd < 0 || tkb_fd_read_full(fd, boot_id, 36) != 36)
		return;
	(void)snprintf(out, 64, "%s%s", mark_prefix, boot_id);
}

/* A mark is a list of bundle ids, a line each. */
static bool is_marked(int own_fd, const struct tkb_digest *id)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(MARK_LIMIT + 1);
	char line[TKB_DIGEST_HEX_SIZE + 1];
	char name[64];
	struct stat status;

	mark_name(name);
	if (name[0] == '\0' || tkb_fd_read_file(own_fd, name, MARK_LIMIT, &text,
	                                        &status, NULL) < 0)
		return false;
	tkb_digest_to_hex(id, line);
	line[TKB_DIGEST_HEX_SIZE - 1] = '\n';
	return memmem(text.data, text.size, line, TKB_DIGEST_HEX_SIZE) != NULL;
}

/* A mark of another boot says nothing any more. */
static void remove_old_marks(int own_fd, const char *current)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (tkb_dir_open(own_fd, ".", &dir, NULL) < 0)
		return;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (begins_with(item->d_name, mark_prefix) &&
		    strcmp(item->d_name, current) != 0)
			(void)unlinkat(own_fd, item->d_name, 0);
	}
}

void tkb_stage_trust(const struct tkb_stage *stage, const struct tkb_digest *id)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	char line[TKB_DIGEST_HEX_SIZE + 1];
	struct stat status;
	char name[64];

	mark_name(name);
	if (stage->own_fd < 0 || name[0] == '\0' || stage->is_trusted)
		return;
	fd = tkb_share_open_common(stage->own_fd, name, O_WRONLY | O_APPEND);
	if (fd < 0)
		return;
	/* A mark that is too long to be read is begun anew. */
	if (fstat(fd, &status) == 0 &&
	    status.st_size > MARK_LIMIT - TKB_DIGEST_HEX_SIZE &&
	    ftruncate(fd, 0) < 0)
		return;
	tkb_digest_to_hex(id, line);
	line[TKB_DIGEST_HEX_SIZE - 1] = '\n';
	/* One append is one line, whoever else appends; a lost one only means
	 * that the next emit looks again. */
	if (write(fd, line, TKB_DIGEST_HEX_SIZE) == TKB_DIGEST_HEX_SIZE)
		remove_old_marks(stage->own_fd, name);
}

void tkb_stage_begin(struct tkb_stage *stage, const struct tkb_digest *id,
                     bool clean)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;

	stage->own_fd = tkb_fd_open(stage->root->fd, TKB_ROOT_OWN_FOLDER,
	                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (stage->own_fd < 0)
		return;
	stage->is_trusted = is_marked(stage->own_fd, id);
	if (!clean || !has_stages(stage->own_fd))
		return;
	/* To tidy up is a courtesy: who cannot, leaves it to the next. */
	if (tkb_stage_lock(stage, &lock, NULL) != TKB_ERR_CANCELLED)
		remove_dead_stages(stage->own_fd, lock >= 0);
}

static int open_own_folder(struct tkb_stage *stage, struct tkb_error *err)
{
	const struct tkb_share share = tkb_share_in_common(&stage->share);
	const int root = stage->root->fd;

	if (stage->own_fd >= 0)
		return 0;
	stage->own_fd =
		tkb_share_publish_folder(&share, root, TKB_ROOT_OWN_FOLDER);
	if (stage->own_fd < 0 && errno != EEXIST)
		return tkb_fail_errno(err, "cannot write in '%s'",
		                      stage->root->path);
	if (stage->own_fd < 0)
		stage->own_fd =
			tkb_fd_open(root, TKB_ROOT_OWN_FOLDER,
		                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (stage->own_fd < 0)
		return tkb_fail_errno(err, "cannot open '%s/%s'",
		                      stage->root->path, TKB_ROOT_OWN_FOLDER);
	return 0;
}

/* In the root's lock: nobody takes for dead what has no lock yet. */
static int give_birth(struct tkb_stage *stage, struct tkb_error *err)
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
		                      stage->root->path, TKB_ROOT_OWN_FOLDER);
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
	tkb_share_of(stage->root->fd, &stage->share);
	rc = open_own_folder(stage, err);
	if (rc < 0)
		return rc;
	if (tkb_stage_lock(stage, &lock, NULL) == TKB_ERR_CANCELLED)
		return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	(void)snprintf(stage->name, sizeof(stage->name), "%s%s", stage_prefix,
	               random);
	rc = give_birth(stage, err);
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
	tkb_fd_unlock_at(&stage->lock_fd);
	tkb_fd_close_at(&stage->fd);
	tkb_fd_close_at(&stage->own_fd);
}
