/* SPDX-License-Identifier: Apache-2.0 */
#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
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

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int
open_special(struct tkb_draft *draft, const char *path, struct tkb_error *err)
{
	const int fd = tkb_fd_open(AT_FDCWD, path, O_WRONLY | O_NOCTTY, 0);

	if (fd < 0)
		return tkb_fail_errno(err, "cannot write '%s'", path);
	*draft = (struct tkb_draft){ .fd = fd };
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

	draft->fd = tkb_fd_open(AT_FDCWD, draft->private_name,
	                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
	if (draft->fd < 0)
		return tkb_fail_errno(err, "cannot write '%s'", draft->path);
	draft->is_named = true;
	return 0;
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
	made.path = strdup(path);
	if (made.path == NULL)
		return tkb_fail_nomem(err);
	rc = open_hidden(&made, err);
	if (rc < 0)
		return rc;
	*draft = made;
	made = (struct tkb_draft)TKB_DRAFT_INIT;
	return 0;
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

int tkb_draft_publish(struct tkb_draft *draft, struct tkb_error *err)
{
	int fd;

	if (draft->path != NULL && move_into_place(draft) < 0)
		return tkb_fail_errno(err, "cannot write '%s'", draft->path);
	/* NFS and quotas tell only here that bytes did not fit. */
	fd = draft->fd;
	draft->fd = -1;
	if (close(fd) < 0)
		return tkb_fail_errno(err, "cannot write the bundle");
	return 0;
}

void tkb_draft_discard(struct tkb_draft *draft)
{
	tkb_fd_close_at(&draft->fd);
	if (draft->is_named)
		(void)unlink(draft->private_name);
	draft->is_named = false;
	free(tkb_take(draft->private_name));
	free(tkb_take(draft->path));
}
