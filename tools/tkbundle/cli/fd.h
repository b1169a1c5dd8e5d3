/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FD_H
#define TKBUNDLE_FD_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <tkbundle/tkbundle.h>

/* File descriptors and folders; interrupted calls are repeated. */

/* For TKB_AUTO; -1 is allowed. */
void fd_close(const int *fd);

/*
 * Read until `size` bytes have arrived or the file ends. -1 and errno on
 * failure.
 */
ssize_t fd_read(int fd, void *data, size_t size);
ssize_t fd_read_at(int fd, void *data, size_t size, uint64_t offset);

/*
 * Read the beginning of a small file, at most `size` - 1 bytes, and a zero.
 *
 * @return how many bytes, or -1 and errno; then `out` is empty
 */
ssize_t fd_read_file(int at, const char *path, char *out, size_t size);

/* Write all of it; false and errno on failure. */
bool fd_write(int fd, struct tkb_bytes bytes);

/* Open a folder for listing; `flags` are open()'s. NULL on failure. */
DIR *folder_open(int at, const char *path, int flags);

/* Write "FOLDER/NAME". False: it is longer than `out`, and cut. */
bool folder_join(char *out, size_t size, const char *folder, const char *name);

/* For TKB_AUTO; NULL is allowed. */
void folder_close(DIR **folder);

/*
 * access() for the effective user; for the real one in a sandbox that refuses
 * faccessat2().
 */
bool path_allows(const char *path, int mode);

/*
 * Does the folder belong to this user, who can write in it, and nobody else?
 * In another one, others could replace what is there. A link is none.
 */
bool folder_is_own(const char *path);

#endif
