/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_FD_H
#define TKB_BASE_FD_H

/*
 * File descriptors. Everything is close-on-exec from birth, and names are
 * looked up below a descriptor of their folder, so that a renamed parent or a
 * planted link leads nowhere else. EINTR is handled here and nowhere else.
 */

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

/* For TKB_AUTO; -1 is closed. errno stays, so that a caller can look at it. */
void tkb_fd_close_at(int *fd);

/*
 * As tkb_fd_close_at(), of a file that may be locked with flock(): a child that
 * was forked meanwhile has the descriptor, too, and would keep the lock.
 */
void tkb_fd_unlock_at(int *fd);

/* For TKB_AUTO; NULL is closed. errno stays. */
void tkb_dir_close_at(DIR **dir);

/* openat() with O_CLOEXEC, again after EINTR. -1 and errno on failure. */
int tkb_fd_open(int dir_fd, const char *name, int flags, mode_t mode);

/*
 * Likewise without O_CREAT, of a path of several parts, none of which is followed
 * if it is a link (ELOOP or ENOTDIR): somebody may swap a folder for one while we
 * work. Of a path below AT_FDCWD, which the user has named, that is the last part.
 */
int tkb_fd_open_below(int dir_fd, const char *path, int flags);

/*
 * Open a file for reading: no link is followed, a FIFO does not block, the
 * access time stays (where we may ask for that). -1 and errno on failure.
 */
int tkb_fd_open_quietly(int dir_fd, const char *path);

/* Open the folder `path` for listing; not through a link. */
TKB_NODISCARD int tkb_dir_open(int dir_fd, const char *path, DIR **out,
                               struct tkb_error *err);

/*
 * The next item of a folder. Returns 0, TKB_MISS behind the last, or an error: a
 * folder that cannot be read to its end must not pass for a short one.
 */
TKB_NODISCARD int tkb_dir_next(DIR *dir, const struct dirent **out,
                               struct tkb_error *err);

/* Read until `size` bytes are there or the file ends; -1 and errno. */
ssize_t tkb_fd_read_full(int fd, void *data, size_t size);
ssize_t tkb_fd_pread_full(int fd, void *data, size_t size, uint64_t offset);

TKB_NODISCARD int tkb_fd_write_all(int fd, struct tkb_bytes bytes,
                                   const char *what, struct tkb_error *err);

/*
 * Write to a temporary file at `offset`, wherever its own offset is: after a write
 * that failed half way, that is not known.
 */
TKB_NODISCARD int tkb_fd_pwrite_all(int fd, struct tkb_bytes bytes,
                                    uint64_t offset, struct tkb_error *err);

/*
 * Append the regular file `name` to `buf`; its stat goes to `stat_out`. A
 * failure says which file, and has a reason: missing, unsafe, limit,
 * unreadable.
 */
TKB_NODISCARD int tkb_fd_read_file(int dir_fd, const char *name, uint64_t limit,
                                   struct tkb_buf *buf, struct stat *stat_out,
                                   struct tkb_error *err);

/*
 * Append the regular file at `path`, which the user named: links are followed.
 * Returns 0, TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_fd_read_path(const char *path, struct tkb_buf *buf,
                                   struct tkb_error *err);

/* Bring what was written to the disk; -1 and errno. */
int tkb_fd_sync(int fd);

/*
 * Bring the names in folder `path` to the disk. -1 and errno if the disk fails, but
 * not on file systems that cannot sync a folder (some of networks and of users).
 */
int tkb_fd_sync_folder(const char *path);

/* An empty file without a name, in folder `dir` or, if NULL, in $TMPDIR. */
TKB_NODISCARD int tkb_fd_unlinked(const char *dir, int *out,
                                  struct tkb_error *err);

#endif
