/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_PLACE_H
#define TKB_NINJA_PLACE_H

/* Access to a build's files, by the names that the build uses; for record.c. */

#include <sys/stat.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"

/* Where the files of a build are, and which path the build has. */
struct tkb_ninja_place {
	int dir_fd;         /* by reference */
	const char *folder; /* absolute */
	const char *root;   /* the tree that the folder is in, or NULL */
};

/* `path` relative to the build's folder; NULL if it is outside. */
const char *tkb_ninja_relative_path(const struct tkb_ninja_place *place,
                                    const char *path);

/* Times as ninja has them, in nanoseconds since 1970. */
static inline int64_t tkb_ninja_time(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t tkb_ninja_mtime(const struct stat *status)
{
	return tkb_ninja_time(status->st_mtim);
}

#define TKB_NINJA_BUILD "build.ninja"

enum {
	TKB_NINJA_FILE_LIMIT = 64 * 1024 * 1024
};

/* Read a file in the build's folder; `out` is emptied before. */
TKB_NODISCARD int tkb_ninja_read_file(const struct tkb_ninja_place *place,
                                      const char *name, struct tkb_buf *out,
                                      struct tkb_error *err);

/* Stat the file at `path` and follow links. TKB_MISS if it does not exist. */
TKB_NODISCARD int tkb_ninja_stat(const struct tkb_ninja_place *place,
                                 const char *path, struct stat *out,
                                 struct tkb_error *err);

/* Most bytes of all inputs of a build: nothing ends a call that reads them. */
#define TKB_NINJA_INPUTS_LIMIT ((uint64_t)8 << 30)

/*
 * Digest and stat the file at `path`. TKB_MISS if it does not exist, and
 * TKB_ERR_TOO_LARGE if it has more than the `*left` bytes that may be read; its
 * own are taken from these.
 */
TKB_NODISCARD int tkb_ninja_digest(const struct tkb_ninja_place *place,
                                   const char *path, struct tkb_hasher *hasher,
                                   uint64_t *left,
                                   struct tkb_digest *digest_out,
                                   struct stat *status_out,
                                   struct tkb_error *err);

/*
 * Set the time of `count` outputs of the build to `*mtime`, or to a later time
 * that the file system can store. That is then put into `*mtime`.
 */
TKB_NODISCARD int tkb_ninja_touch(const struct tkb_ninja_place *place,
                                  const char *const *outputs, size_t count,
                                  int64_t *mtime, struct tkb_error *err);

#endif
