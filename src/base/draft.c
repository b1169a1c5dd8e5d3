/* SPDX-License-Identifier: Apache-2.0 */
#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/random.h"

/* "<path>.<random>.tmp", beside the destination: rename cannot cross. */
static int private_name(const char *path, char **out, struct tkb_error *err)
{
	struct tkb_buf name = TKB_BUF_INIT(64 * TKB_KIB);
	char random[TKB_RANDOM_NAME_SIZE];
	int rc;

	rc = tkb_random_name(random, err);
	if (rc < 0)
		return rc;
	tkb_buf_add_text(&name, path);
	tkb_buf_add_byte(&name, '.');
	tkb_buf_add_text(&name, random);
	tkb_buf_add_text(&name, ".tmp");
	tkb_buf_add_byte(&name, '\0');
	rc = tkb_buf_check(&name, err);
	if (rc < 0) {
		tkb_buf_release(&name);
		return rc;
	}
	*out = (char *)name.data;
	return 0;
}

/* Is `name` "<base>.<random>.tmp"? */
static bool is_private_name(const char *name, const char *base)
{
	const size_t length = strlen(base);
	const size_t digits = TKB_RANDOM_NAME_SIZE - 1;

	return strncmp(name, base, length) == 0 && name[length] == '.' &&
	       strspn(name + length + 1, "0123456789abcdef") == digits &&
	       strcmp(name + length + 1 + digits, ".tmp") == 0;
}

/* A draft is locked by its writer for as long as that lives. */
static void remove_if_dead(int dir_fd, const char *name)
{
	TKB_AUTO(tkb_fd_unlock_at)
	int fd = tkb_fd_open_quietly(dir_fd, name); /* does not wait */
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(dir_fd, name, 0);
}

/* What a writer of this file left that was killed while it published. */
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
		return 0; /* to open the draft will tell why */
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (is_private_name(item->d_name, base))
			remove_if_dead(dirfd(dir), item->d_name);
	}
	tkb_dir_close_at(&dir);
	return 0;
}

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int open_special(struct tkb_draft *draft, const char *path,
                        struct tkb_error *err)
{
	const int fd = tkb_fd_open(AT_FDCWD, path, O_WRONLY | O_NOCTTY, 0);

	if (fd < 0)
		return tkb_fail_errno(err, "cannot write '%s'", path);
	*draft = (struct tkb_draft){ .fd = fd, .name = path };
	return 0;
}

/* Somebody may take it for dead before it is locked: then once more. */
static int open_named(struct tkb_draft *draft, struct tkb_error *err)
{
	struct stat status = { 0 };

	while (status.st_nlink == 0) {
		tkb_fd_close_at(&draft->fd);
		draft->fd = tkb_fd_open(AT_FDCWD, draft->private_name,
		                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
		                        0666);
		if (draft->fd < 0)
			return tkb_fail_errno(err, "cannot write '%s'",
			                      draft->path);
		draft->is_named = true;
		(void)flock(draft->fd, LOCK_EX | LOCK_NB);
		if (fstat(draft->fd, &status) < 0)
			return tkb_fail_errno(err, "cannot write '%s'",
			                      draft->path);
	}
	return 0;
}

/* Without a name if that can be done: a killed process leaves nothing. */
static int open_hidden(struct tkb_draft *draft, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *copy = strdup(draft->path);

	if (copy == NULL)
		return tkb_fail_nomem(err);
	draft->fd =
		tkb_fd_open(AT_FDCWD, dirname(copy), O_TMPFILE | O_RDWR, 0666);
	if (draft->fd >= 0)
		return 0;

	return open_named(draft, err);
}

int tkb_draft_open(struct tkb_draft *draft, const char *path,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_discard) struct tkb_draft made = TKB_DRAFT_INIT;
	int rc;

	if (is_special(path))
		return open_special(draft, path, err);
	rc = private_name(path, &made.private_name, err);
	if (rc < 0)
		return rc;
	made.name = path;
	made.path = strdup(path);
	if (made.path == NULL)
		return tkb_fail_nomem(err);
	rc = remove_dead_drafts(path, err);
	if (rc < 0)
		return rc;
	rc = open_hidden(&made, err);
	if (rc < 0)
		return rc;
	/* Without locks (some NFS) a dead draft stays; nothing else is lost. */
	(void)flock(made.fd, LOCK_EX | LOCK_NB);
	*draft = made;
	made = (struct tkb_draft)TKB_DRAFT_INIT;
	return 0;
}

static int write_to_draft(void *self, struct tkb_bytes bytes,
                          struct tkb_error *err)
{
	const struct tkb_draft *draft = self;

	return tkb_fd_write_all(draft->fd, bytes, draft->name, err);
}

struct tkb_sink tkb_draft_sink(struct tkb_draft *draft)
{
	return (struct tkb_sink){ .write = write_to_draft, .self = draft };
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
 * NFS and quotas tell only at a close that bytes did not fit: too late once the
 * file is in place. A copy's will do, and leaves ours locked.
 */
static int flush(const struct tkb_draft *draft)
{
	const int copy = fcntl(draft->fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -1 : close(copy);
}

int tkb_draft_sync(const struct tkb_draft *draft, struct tkb_error *err)
{
	if (tkb_fd_sync(draft->fd) < 0)
		return tkb_fail_errno(err, "cannot write '%s'", draft->name);
	return 0;
}

int tkb_draft_publish(struct tkb_draft *draft, struct tkb_error *err)
{
	if (flush(draft) < 0 ||
	    (draft->path != NULL && move_into_place(draft) < 0))
		return tkb_fail_errno(err, "cannot write '%s'", draft->name);
	tkb_fd_unlock_at(&draft->fd);
	return 0;
}

void tkb_draft_discard(struct tkb_draft *draft)
{
	const int number = errno;

	tkb_fd_unlock_at(&draft->fd);
	if (draft->is_named)
		(void)unlink(draft->private_name);
	draft->is_named = false;
	free(tkb_take(draft->private_name));
	free(tkb_take(draft->path));
	errno = number;
}
