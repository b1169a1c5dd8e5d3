/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/auto.h"

void fd_close(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* Read at `offset`, or, if it is NULL, at the file's own position. */
static ssize_t read_fully(int fd, void *data, size_t size,
                          const uint64_t *offset)
{
	size_t done = 0;

	while (done < size) {
		char *const to = (char *)data + done;
		const ssize_t got = offset == NULL
		                            ? read(fd, to, size - done)
		                            : pread(fd, to, size - done,
		                                    (off_t)(*offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

ssize_t fd_read(int fd, void *data, size_t size)
{
	return read_fully(fd, data, size, NULL);
}

ssize_t fd_read_at(int fd, void *data, size_t size, uint64_t offset)
{
	return read_fully(fd, data, size, &offset);
}

ssize_t fd_read_file(int at, const char *path, char *out, size_t size)
{
	TKB_AUTO(fd_close)
	const int fd =
		openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const ssize_t got = fd < 0 ? -1 : fd_read(fd, out, size - 1);

	out[got > 0 ? got : 0] = '\0';
	return got;
}

bool fd_write(int fd, struct tkb_bytes bytes)
{
	size_t done = 0;

	while (done < bytes.size) {
		const ssize_t put = write(fd, (const char *)bytes.data + done,
		                          bytes.size - done);

		if (put < 0 && errno != EINTR)
			return false;
		done += put > 0 ? (size_t)put : 0;
	}
	return true;
}

DIR *folder_open(int at, const char *path, int flags)
{
	const int fd =
		openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	DIR *const folder = fd >= 0 ? fdopendir(fd) : NULL;

	if (folder == NULL)
		fd_close(&fd);
	return folder;
}

bool folder_join(char *out, size_t size, const char *folder, const char *name)
{
	const int length = snprintf(out, size, "%s/%s", folder, name);

	return length > 0 && (size_t)length < size;
}

void folder_close(DIR **folder)
{
	if (*folder != NULL)
		(void)closedir(*folder);
}

bool path_allows(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ||
	       (errno == EPERM && access(path, mode) == 0);
}

bool folder_is_own(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid() &&
	       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	       path_allows(path, W_OK | X_OK);
}
