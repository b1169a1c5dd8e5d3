/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"

bool tkb_is_visible(const char *text)
{
	while (*text > ' ' && *text <= '~')
		text++;
	return *text == '\0';
}

void tkb_secret_release(struct tkb_buf *buf)
{
	if (buf->data != NULL)
		explicit_bzero(buf->data, buf->capacity);
	tkb_buf_release(buf);
}

void tkb_secret_text_release(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

static int fail_read(const char *path, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_DENIED, "cannot read '%.200s': %s", path,
	                strerror(errno));
}

int tkb_secret_file_read(const char *path, const char *what, size_t limit,
                         struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
	                     0);
	struct stat status;
	unsigned char *text;
	ssize_t got;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TKB_MISS;
	if (fd < 0 || fstat(fd, &status) < 0)
		return fail_read(path, err);
	if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > limit)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "'%.200s' is not a file of %s", path, what);
	text = tkb_buf_reserve(out, (size_t)status.st_size + 1);
	if (text == NULL)
		return tkb_buf_check(out, err);
	got = tkb_fd_read_full(fd, text, (size_t)status.st_size);
	if (got < 0)
		return fail_read(path, err);
	text[got] = '\0';
	out->size = (size_t)got;
	return 0;
}
