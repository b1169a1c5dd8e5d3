/* SPDX-License-Identifier: Apache-2.0 */
#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/random.h"

/* How much of a file's name a draft's name begins with: the rest must fit. */
static size_t kept_length(const char *name)
{
	return strnlen(name,
	               NAME_MAX - strlen("..tmp") - (TKB_RANDOM_NAME_SIZE - 1));
}

/* "<path>.<random>.tmp": rename() must not cross file systems. */
static int make_private_name(const char *path, char **out,
                             struct tkb_error *err)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash == NULL ? path : slash + 1;
	const int length = (int)((size_t)(base - path) + kept_length(base));
	char random[TKB_RANDOM_NAME_SIZE];
	char *name;
	int rc;

	rc = tkb_random_name(random, err);
	if (rc < 0)
		return rc;
	if (asprintf(&name, "%.*s.%s.tmp", length, path, random) < 0)
		return tkb_fail_nomem(err);
	*out = name;
	return 0;
}

/* Is `name` "<base>.<random>.tmp"? */
static bool is_private_name(const char *name, const char *base)
{
	const size_t length = kept_length(base);
	const size_t digits = TKB_RANDOM_NAME_SIZE - 1;

	return strncmp(name, base, length) == 0 && name[length] == '.' &&
	       strspn(name + length + 1, "0123456789abcdef") == digits &&
	       strcmp(name + length + 1 + digits, ".tmp") == 0;
}

/* Remove the draft if its writer is dead: a live writer holds a lock on it. */
static void remove_if_dead(int dir_fd, const char *name)
{
	TKB_AUTO(tkb_fd_unlock_at)
	int fd = tkb_fd_open_quietly(dir_fd, name); /* does not block */
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(dir_fd, name, 0);
}

/* Remove drafts of this file whose writers were killed while publishing. */
static int remove_dead_drafts(const char *path, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *for_folder = strdup(path);
	TKB_AUTO(tkb_free_at) char *for_base = strdup(path);
	const struct dirent *item;
	const char *base;
	DIR *dir;

	if (for_folder == NULL || for_base == NULL)
		return tkb_fail_nomem(err);
	base = basename(for_base);
	dir = opendir(dirname(for_folder));
	if (dir == NULL)
		return 0; /* opening the draft will report the reason */
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (is_private_name(item->d_name, base))
			remove_if_dead(dirfd(dir), item->d_name);
	}
	tkb_dir_close_at(&dir);
	return 0;
}

/* Does the path name an open file, as /dev/fd/3 does, and not one of our own? */
static bool is_open_file(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < TKB_COUNT_OF(folders); i++) {
		const size_t length = strlen(folders[i]);
		char *end = NULL;
		long number;
		int flags;

		if (strncmp(path, folders[i], length) != 0)
			continue;
		number = strtol(path + length, &end, 10);
		flags = *end == '\0' ? fcntl((int)number, F_GETFD) : -1;
		return flags >= 0 && (flags & FD_CLOEXEC) == 0;
	}
	return false;
}

/* Does the path lead to an open file, as /dev/stdout does? */
static bool is_link_to_open_file(const char *path)
{
	static const char begin[] = "/proc/";
	char target[sizeof(begin) - 1];

	return readlink(path, target, sizeof(target)) ==
	               (ssize_t)sizeof(target) &&
	       memcmp(target, begin, sizeof(target)) == 0;
}

/* The flags to open what is there and is not replaced; 0: it is replaced. */
static int special_flags(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return 0;
	if (!S_ISREG(status.st_mode))
		return O_WRONLY | O_NOCTTY;
	return is_open_file(path) || is_link_to_open_file(path)
	               ? O_WRONLY | O_APPEND
	               : 0;
}

static int fail_to_write(const struct tkb_draft *draft, struct tkb_error *err)
{
	return tkb_fail_errno(err, "cannot write '%s'", draft->path);
}

/* If another process removes the new file before it is locked, try again. */
static int open_named(struct tkb_draft *draft, struct tkb_error *err)
{
	struct stat status = { 0 };

	while (status.st_nlink == 0) {
		tkb_fd_close_at(&draft->fd);
		draft->fd = tkb_fd_open(AT_FDCWD, draft->private_name,
		                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
		                        0666);
		if (draft->fd < 0)
			return fail_to_write(draft, err);
		draft->is_named = true;
		(void)flock(draft->fd, LOCK_EX | LOCK_NB);
		if (fstat(draft->fd, &status) < 0)
			return fail_to_write(draft, err);
	}
	return 0;
}

/*
 * Open the draft without a name where possible: a killed process then leaves
 * nothing behind. The draft gets its name later, through /proc.
 */
static int open_hidden(struct tkb_draft *draft, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *copy = strdup(draft->path);

	if (copy == NULL)
		return tkb_fail_nomem(err);
	if (access("/proc/self/fd", X_OK) == 0)
		draft->fd = tkb_fd_open(AT_FDCWD, dirname(copy),
		                        O_TMPFILE | O_RDWR, 0666);
	return draft->fd >= 0 ? 0 : open_named(draft, err);
}

static int open_regular(struct tkb_draft *draft, struct tkb_error *err)
{
	int rc;

	rc = make_private_name(draft->path, &draft->private_name, err);
	if (rc == 0)
		rc = remove_dead_drafts(draft->path, err);
	if (rc == 0)
		rc = open_hidden(draft, err);
	/* Without locks (some NFS), dead drafts stay; they do no harm. */
	if (rc == 0)
		(void)flock(draft->fd, LOCK_EX | LOCK_NB);
	return rc;
}

int tkb_draft_open(const char *path, struct tkb_draft **out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_close_at)
	struct tkb_draft *draft = tkb_alloc_array(1, sizeof(*draft));
	const int flags = special_flags(path);
	int rc = 0;

	if (draft == NULL)
		return tkb_fail_nomem(err);
	draft->fd = -1;
	draft->path = strdup(path);
	if (draft->path == NULL)
		return tkb_fail_nomem(err);
	if (flags != 0) {
		draft->fd = tkb_fd_open(AT_FDCWD, path, flags, 0);
		if (draft->fd < 0)
			rc = fail_to_write(draft, err);
	} else {
		rc = open_regular(draft, err);
	}
	if (rc < 0)
		return rc;
	*out = tkb_take(draft);
	return 0;
}

static int write_to_draft(void *self, struct tkb_bytes bytes,
                          struct tkb_error *err)
{
	const struct tkb_draft *draft = self;

	return tkb_fd_write_all(draft->fd, bytes, draft->path, err);
}

struct tkb_sink tkb_draft_sink(struct tkb_draft *draft)
{
	return (struct tkb_sink){ .write = write_to_draft, .self = draft };
}

int tkb_draft_fd(const struct tkb_draft *draft)
{
	return draft->private_name != NULL ? draft->fd : -1;
}

static int give_name(const struct tkb_draft *draft, const char *name)
{
	char self[64];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", draft->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int move_into_place(struct tkb_draft *draft)
{
	if (!draft->is_named) {
		if (give_name(draft, draft->path) == 0)
			return 0;
		if (errno != EEXIST ||
		    give_name(draft, draft->private_name) < 0)
			return -1;
		draft->is_named = true;
	}
	if (rename(draft->private_name, draft->path) < 0)
		return -1;
	draft->is_named = false;
	return 0;
}

/*
 * On NFS and with quotas, only close() reports that bytes did not fit, and
 * after the rename that would be too late. So close a copy of the descriptor:
 * that reports the failure, and we keep our lock.
 */
static int flush_draft(const struct tkb_draft *draft)
{
	const int copy = fcntl(draft->fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -1 : close(copy);
}

int tkb_draft_sync(const struct tkb_draft *draft, struct tkb_error *err)
{
	return tkb_fd_sync(draft->fd) < 0 ? fail_to_write(draft, err) : 0;
}

int tkb_draft_publish(struct tkb_draft *draft, struct tkb_error *err)
{
	if (flush_draft(draft) < 0 ||
	    (draft->private_name != NULL && move_into_place(draft) < 0))
		return fail_to_write(draft, err);
	tkb_fd_unlock_at(&draft->fd);
	return 0;
}

void tkb_draft_close(struct tkb_draft *draft)
{
	const int number = errno;

	if (draft == NULL)
		return;
	tkb_fd_unlock_at(&draft->fd);
	if (draft->is_named)
		(void)unlink(draft->private_name);
	free(draft->private_name);
	free(draft->path);
	free(draft);
	errno = number;
}

void tkb_draft_close_at(struct tkb_draft **draft)
{
	tkb_draft_close(tkb_take(*draft));
}
