/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_FD_H
#define TKB_BASE_FD_H

/*
 * File descriptors. All are opened close-on-exec. Names are looked up relative
 * to a descriptor of their folder, so that a renamed parent or a planted link
 * leads nowhere else. EINTR is handled in fd.c and nowhere else.
 */

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

/* For TKB_AUTO; -1 is allowed. Keeps errno, so that a caller can look at it. */
void tkb_fd_close_at(int *fd);

/*
 * As tkb_fd_close_at(), for a file that may be locked with flock(). It unlocks
 * the file first: a child that was forked meanwhile has the descriptor too, and
 * would keep the lock.
 */
void tkb_fd_unlock_at(int *fd);

/* For TKB_AUTO; NULL is allowed. Keeps errno. */
void tkb_dir_close_at(DIR **dir);

/* openat() with O_CLOEXEC, repeated after EINTR. -1 and errno on failure. */
int tkb_fd_open(int dir_fd, const char *name, int flags, mode_t mode);

/* Open a folder, not a link to one. -1 and errno on failure. */
int tkb_fd_open_folder(int dir_fd, const char *name);

/*
 * Is there something of this name, maybe a link? If not, errno says why. A
 * sandbox may refuse faccessat(), but never this.
 */
bool tkb_fd_exists(int dir_fd, const char *path);

/*
 * Did renameat2() with RENAME_NOREPLACE fail because the file system, kernel or
 * sandbox lacks it? EPERM may also be of the folder: then other calls fail, too.
 */
bool tkb_fd_lacks_noreplace(int number);

/*
 * Can posix_spawn() close all descriptors from a number on? Where close_range() and
 * /proc are both missing, glibc's starts nothing instead. Ours are closed anyway.
 */
bool tkb_fd_can_close_all(void);

/*
 * As tkb_fd_open(), without O_CREAT, for a path of several parts. No part may
 * be a link (ELOOP or ENOTDIR), since somebody may replace a folder by a link
 * while we work. In a path relative to AT_FDCWD, which the user has named, only
 * the last part may not be a link.
 */
int tkb_fd_open_below(int dir_fd, const char *path, int flags);

/*
 * Open a file for reading without following a link, blocking on a FIFO or,
 * where the kernel lets us, changing the access time. -1 and errno on failure.
 */
int tkb_fd_open_quietly(int dir_fd, const char *path);

enum {
	TKB_FD_HEAD = 512
};

/* Where a file begins and ends, which shows what it is, and if it is whole. */
struct tkb_fd_ends {
	char bytes[TKB_FD_HEAD];
	struct tkb_bytes head; /* the first of its bytes */
	char last;             /* its last byte; 0 if it is empty */
	struct stat status;
};

/* Read the ends of a file, opened likewise. -1 and errno on failure. */
int tkb_fd_read_ends(int dir_fd, const char *path, struct tkb_fd_ends *out);

/* Open the folder `path` for listing; `path` may not be a link. */
TKB_NODISCARD int tkb_dir_open(int dir_fd, const char *path, DIR **out,
                               struct tkb_error *err);

/*
 * The next item of a folder. Returns 0, TKB_MISS after the last item, or an
 * error, so that a folder that cannot be read to its end is not taken for a
 * shorter one.
 */
TKB_NODISCARD int tkb_dir_next(DIR *dir, const struct dirent **out,
                               struct tkb_error *err);

/* Read `size` bytes, or up to the file's end; -1 and errno on failure. */
ssize_t tkb_fd_read_full(int fd, void *data, size_t size);
ssize_t tkb_fd_pread_full(int fd, void *data, size_t size, uint64_t offset);

TKB_NODISCARD int tkb_fd_write_all(int fd, struct tkb_bytes bytes,
                                   const char *what, struct tkb_error *err);

/*
 * Write to a temporary file at `offset`. Its own position is not used: after a
 * write that failed half way, it is not known.
 */
TKB_NODISCARD int tkb_fd_pwrite_all(int fd, struct tkb_bytes bytes,
                                    uint64_t offset, struct tkb_error *err);

/*
 * Append the regular file `name` to `buf`; its stat goes to `stat_out`. A
 * failure names the file and has a reason: missing, unsafe, limit or
 * unreadable.
 */
TKB_NODISCARD int tkb_fd_read_file(int dir_fd, const char *name, uint64_t limit,
                                   struct tkb_buf *buf, struct stat *stat_out,
                                   struct tkb_error *err);

/*
 * Likewise, but send its bytes to `sink` in pieces, so that a large file does not
 * take its size in memory. After a failure some were sent.
 */
TKB_NODISCARD int tkb_fd_send_file(int dir_fd, const char *name, uint64_t limit,
                                   const struct tkb_sink *sink,
                                   struct stat *stat_out,
                                   struct tkb_error *err);

/*
 * Append the regular file at `path`, which the user named: links are followed.
 * Returns 0, TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_fd_read_path(const char *path, struct tkb_buf *buf,
                                   struct tkb_error *err);

/* Write a file's data to the disk; -1 and errno on failure. */
int tkb_fd_sync(int fd);

/*
 * Write the names in the folder `path` to the disk. -1 and errno if the disk
 * fails; 0 on file systems that cannot sync a folder (some network and FUSE
 * file systems).
 */
int tkb_fd_sync_folder(const char *path);

/* Make an empty file without a name, in `dir` or, if that is NULL, $TMPDIR. */
TKB_NODISCARD int tkb_fd_unlinked(const char *dir, int *out,
                                  struct tkb_error *err);

#endif
