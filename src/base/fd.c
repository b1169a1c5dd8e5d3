/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PIECE_SIZE = 1024 * 1024 /* of a file that is sent */
};

void tkb_fd_close_at(int *fd)
{
	const int number = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = number;
}

void tkb_fd_unlock_at(int *fd)
{
	const int number = errno;

	if (*fd >= 0)
		(void)flock(*fd, LOCK_UN);
	tkb_fd_close_at(fd);
	errno = number;
}

void tkb_dir_close_at(DIR **dir)
{
	const int number = errno;

	if (*dir != NULL)
		(void)closedir(*dir);
	*dir = NULL;
	errno = number;
}

int tkb_fd_open(int dir_fd, const char *name, int flags, mode_t mode)
{
	int fd;

	do {
		fd = openat(dir_fd, name, flags | O_CLOEXEC, mode);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

int tkb_fd_open_folder(int dir_fd, const char *name)
{
	return tkb_fd_open(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
	                   0);
}

bool tkb_fd_exists(int dir_fd, const char *path)
{
	struct stat status;

	return fstatat(dir_fd, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool tkb_fd_lacks_noreplace(int number)
{
	return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP ||
	       number == EPERM;
}

bool tkb_fd_can_close_all(void)
{
	return syscall(SYS_close_range, ~0U, ~0U, 0) == 0 ||
	       access("/proc/self/fd", X_OK) == 0;
}

/* Fails with ENOSYS or EPERM where the kernel or a sandbox lacks openat2(). */
static int open_at_once(int dir_fd, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	int fd;

	do {
		fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	} while (fd < 0 && errno == EINTR);
	return fd;
}

static int open_part_by_part(int dir_fd, const char *path, int flags)
{
	const char *slash = strchr(path, '/');
	TKB_AUTO(tkb_fd_close_at) int folder = -1;

	for (; slash != NULL; slash = strchr(path, '/')) {
		char name[NAME_MAX + 1];
		const size_t length = (size_t)(slash - path);
		int fd;

		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, length);
		name[length] = '\0';
		fd = tkb_fd_open(folder < 0 ? dir_fd : folder, name,
		                 O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (fd < 0)
			return -1;
		tkb_fd_close_at(&folder);
		folder = fd;
		path = slash + 1;
	}
	return tkb_fd_open(folder < 0 ? dir_fd : folder, path, flags, 0);
}

int tkb_fd_open_below(int dir_fd, const char *path, int flags)
{
	int fd;

	flags |= O_NOFOLLOW;
	if (dir_fd == AT_FDCWD || strchr(path, '/') == NULL)
		return tkb_fd_open(dir_fd, path, flags, 0);
	fd = open_at_once(dir_fd, path, flags);
	/* If EPERM is of O_NOATIME, the other way fails alike. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_part_by_part(dir_fd, path, flags);
	return fd;
}

/* Leave the access time alone, where the kernel lets us. */
static int open_without_time(int dir_fd, const char *path, int flags)
{
	int fd = tkb_fd_open_below(dir_fd, path, flags | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = tkb_fd_open_below(dir_fd, path, flags);
	return fd;
}

int tkb_fd_open_quietly(int dir_fd, const char *path)
{
	return open_without_time(dir_fd, path,
	                         O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

int tkb_fd_read_ends(int dir_fd, const char *path, struct tkb_fd_ends *out)
{
	TKB_AUTO(tkb_fd_close_at) int fd = tkb_fd_open_quietly(dir_fd, path);
	ssize_t got;

	if (fd < 0 || fstat(fd, &out->status) < 0)
		return -1;
	got = tkb_fd_read_full(fd, out->bytes, sizeof(out->bytes));
	if (got < 0)
		return -1;
	out->head = (struct tkb_bytes){ out->bytes, (size_t)got };
	out->last = got == 0 ? '\0' : out->bytes[got - 1];
	if (out->status.st_size > got &&
	    tkb_fd_pread_full(fd, &out->last, 1,
	                      (uint64_t)out->status.st_size - 1) < 0)
		return -1;
	return 0;
}

int tkb_dir_open(int dir_fd, const char *path, DIR **out, struct tkb_error *err)
{
	DIR *dir;
	int fd;

	fd = open_without_time(dir_fd, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return tkb_fail_errno(err, "cannot open folder '%s'", path);
	dir = fdopendir(fd);
	if (dir == NULL) {
		tkb_fd_close_at(&fd);
		return tkb_fail_errno(err, "cannot list folder '%s'", path);
	}
	*out = dir;
	return 0;
}

int tkb_dir_next(DIR *dir, const struct dirent **out, struct tkb_error *err)
{
	const struct dirent *item;

	errno = 0;
	item = readdir(dir);
	if (item == NULL && errno != 0)
		return tkb_fail_errno(err, "cannot list a folder");
	if (item == NULL)
		return TKB_MISS;
	*out = item;
	return 0;
}

/* Read at `offset`, or at the file's position if `offset` is NULL. */
static ssize_t read_fully(int fd, void *data, size_t size,
                          const uint64_t *offset)
{
	size_t done = 0;

	while (done < size) {
		char *to = (char *)data + done;
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

ssize_t tkb_fd_read_full(int fd, void *data, size_t size)
{
	return read_fully(fd, data, size, NULL);
}

ssize_t tkb_fd_pread_full(int fd, void *data, size_t size, uint64_t offset)
{
	return read_fully(fd, data, size, &offset);
}

/* Say where the file without a name is, as the system tells: there is no room. */
static int fail_to_write_unnamed(int fd, struct tkb_error *err)
{
	const int number = errno;
	char link[64];
	char path[512];
	char *slash;
	ssize_t size;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path) - 1);
	path[size > 0 ? size : 0] = '\0';
	slash = strrchr(path, '/');
	errno = number;
	if (slash == NULL || slash == path)
		return tkb_fail_errno(err, "cannot write a temporary file");
	*slash = '\0';
	return tkb_fail_errno(err, "cannot write a temporary file in '%.300s'",
	                      path);
}

/*
 * Write at `offset`, or at the file's position if `offset` is NULL. `what` is
 * the file's name for the message; NULL stands for a temporary file.
 */
static int write_fully(int fd, struct tkb_bytes bytes, const uint64_t *offset,
                       const char *what, struct tkb_error *err)
{
	size_t done = 0;

	while (done < bytes.size) {
		const char *from = (const char *)bytes.data + done;
		const size_t left = bytes.size - done;
		const ssize_t put = offset == NULL
		                            ? write(fd, from, left)
		                            : pwrite(fd, from, left,
		                                     (off_t)(*offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return what == NULL
			               ? fail_to_write_unnamed(fd, err)
			               : tkb_fail_errno(err,
			                                "cannot write '%s'",
			                                what);
		done += (size_t)put;
	}
	return 0;
}

int tkb_fd_write_all(int fd, struct tkb_bytes bytes, const char *what,
                     struct tkb_error *err)
{
	return write_fully(fd, bytes, NULL, what, err);
}

int tkb_fd_pwrite_all(int fd, struct tkb_bytes bytes, uint64_t offset,
                      struct tkb_error *err)
{
	return write_fully(fd, bytes, &offset, NULL, err);
}

static int fail_open(const char *name, struct tkb_error *err)
{
	int rc;

	switch (errno) {
	case ENOENT:
		return tkb_fail_entry(err, TKB_REASON_MISSING,
		                      "'%s' is not there", name);
	case ELOOP:
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "'%s' is a symbolic link", name);
	default:
		rc = tkb_fail_errno(err, "cannot read '%s'", name);
		if (rc == TKB_ERR_IO && err != NULL)
			err->reason = TKB_REASON_UNREADABLE;
		return rc;
	}
}

static int check_regular(const struct stat *status, const char *name,
                         uint64_t limit, struct tkb_error *err)
{
	if (!S_ISREG(status->st_mode))
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "'%s' is not a regular file", name);
	if ((uint64_t)status->st_size > limit)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "'%s' has %lld bytes, more than %llu",
		                      name, (long long)status->st_size,
		                      (unsigned long long)limit);
	return 0;
}

/* `*fd_out` is the caller's to close, also after a failure. */
static int open_regular(int dir_fd, const char *name, uint64_t limit,
                        int *fd_out, struct stat *stat_out,
                        struct tkb_error *err)
{
	*fd_out = tkb_fd_open_quietly(dir_fd, name);
	if (*fd_out < 0 || fstat(*fd_out, stat_out) < 0)
		return fail_open(name, err);
	return check_regular(stat_out, name, limit, err);
}

static int fail_changed(const char *name, struct tkb_error *err)
{
	return tkb_fail_entry(err, TKB_REASON_BUSY,
	                      "'%s' changed while it was read", name);
}

/* Read one byte more than the file's size, to notice a file that grows. */
static int read_open_file(int fd, const char *name, struct tkb_buf *buf,
                          const struct stat *status, struct tkb_error *err)
{
	const size_t wanted = (size_t)status->st_size + 1;
	unsigned char *place = tkb_buf_reserve(buf, wanted);
	ssize_t got;

	if (place == NULL)
		return tkb_buf_check(buf, err);
	got = tkb_fd_read_full(fd, place, wanted);
	if (got < 0)
		return fail_open(name, err);
	if (got != status->st_size)
		return fail_changed(name, err);
	buf->size += (size_t)got;
	return 0;
}

int tkb_fd_read_file(int dir_fd, const char *name, uint64_t limit,
                     struct tkb_buf *buf, struct stat *stat_out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	const int rc = open_regular(dir_fd, name, limit, &fd, stat_out, err);

	return rc < 0 ? rc : read_open_file(fd, name, buf, stat_out, err);
}

/* Send all pieces; see that they are as many bytes as the status says. */
static int send_open_file(int fd, const char *name, const struct stat *status,
                          const struct tkb_sink *sink, struct tkb_error *err)
{
	const size_t size = status->st_size < PIECE_SIZE
	                            ? (size_t)status->st_size + 1
	                            : PIECE_SIZE;
	TKB_AUTO(tkb_free_at) void *piece = malloc(size);
	off_t sent = 0;
	size_t got;
	int rc;

	if (piece == NULL)
		return tkb_fail_nomem(err);
	do {
		const ssize_t came = tkb_fd_read_full(fd, piece, size);

		if (came < 0)
			return fail_open(name, err);
		got = (size_t)came;
		sent += came;
		if (sent > status->st_size ||
		    (got < size && sent < status->st_size))
			return fail_changed(name, err);
		rc = sink->write(sink->self, (struct tkb_bytes){ piece, got },
		                 err);
	} while (rc == 0 && got == size);
	return rc;
}

int tkb_fd_send_file(int dir_fd, const char *name, uint64_t limit,
                     const struct tkb_sink *sink, struct stat *stat_out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	const int rc = open_regular(dir_fd, name, limit, &fd, stat_out, err);

	return rc < 0 ? rc : send_open_file(fd, name, stat_out, sink, err);
}

int tkb_fd_read_path(const char *path, struct tkb_buf *buf,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
	struct stat status;
	unsigned char *room;
	ssize_t got;

	if (fd < 0 || fstat(fd, &status) < 0)
		return tkb_fail_errno(err, "cannot read '%s'", path);
	if (!S_ISREG(status.st_mode))
		return tkb_fail(err, TKB_ERR_IO, "'%s' is not a file", path);
	room = tkb_buf_reserve(buf, (size_t)status.st_size);
	if (room == NULL && buf->failure == TKB_ERR_TOO_LARGE)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "'%s' is too large",
		                path);
	if (room == NULL)
		return tkb_fail_nomem(err);
	got = tkb_fd_read_full(fd, room, (size_t)status.st_size);
	if (got < 0)
		return tkb_fail_errno(err, "cannot read '%s'", path);
	buf->size += (size_t)got;
	return 0;
}

int tkb_fd_sync(int fd)
{
	int rc;

	do {
		rc = fdatasync(fd);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 && (errno == EINVAL || errno == ENOTSUP) ? 0 : rc;
}

int tkb_fd_sync_folder(const char *path)
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0)
		return 0; /* a folder may be writable and not readable */
	do {
		rc = fsync(fd);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT)
	               ? -1
	               : 0;
}

/* For file systems without O_TMPFILE (NFS, old overlayfs). */
static int make_and_unlink(const char *dir, int *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf path = TKB_BUF_INIT(4096);
	int fd;
	int rc;

	tkb_print(&path, "%s/.tkbundle-XXXXXX", dir);
	rc = tkb_buf_check(&path, err);
	if (rc < 0)
		return rc;

	fd = mkostemp((char *)path.data, O_CLOEXEC);
	if (fd < 0)
		return tkb_fail_errno(err, "cannot make a file in '%s'", dir);
	(void)unlink((const char *)path.data);
	*out = fd;
	return 0;
}

int tkb_fd_unlinked(const char *dir, int *out, struct tkb_error *err)
{
	int fd;

	if (dir == NULL)
		dir = getenv("TMPDIR");
	if (dir == NULL || dir[0] == '\0')
		dir = "/tmp";

	fd = tkb_fd_open(AT_FDCWD, dir, O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		return make_and_unlink(dir, out, err);
	*out = fd;
	return 0;
}
