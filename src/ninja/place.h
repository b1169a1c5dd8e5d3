/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_PLACE_H
#define TKB_NINJA_PLACE_H

/* The files that a build names, by the names that it has for them: for record.c. */

#include <sys/stat.h>

#include "base/base.h"
#include "base/digest.h"

/* Where a build's files are, and where it thinks that it is. */
struct tkb_ninja_place {
	int dir_fd;         /* by reference */
	const char *folder; /* absolute */
};

/* `path` relative to the build's folder, or NULL if it is elsewhere. */
const char *tkb_ninja_relative_path(const struct tkb_ninja_place *place,
                                    const char *path);

static inline int64_t tkb_ninja_mtime(const struct stat *status)
{
	return (int64_t)status->st_mtim.tv_sec * 1000000000 +
	       status->st_mtim.tv_nsec;
}

/* Stat the file at `path`; through links. TKB_MISS: there is none. */
TKB_NODISCARD int tkb_ninja_stat(const struct tkb_ninja_place *place,
                                 const char *path, struct stat *out,
                                 struct tkb_error *err);

/* The digest and the time of the file at `path`. TKB_MISS: there is none. */
TKB_NODISCARD int tkb_ninja_digest(const struct tkb_ninja_place *place,
                                   const char *path, struct tkb_hasher *hasher,
                                   struct tkb_digest *digest_out,
                                   int64_t *mtime_out, struct tkb_error *err);

/*
 * Set the time of `count` outputs of the build to `*mtime`, or to a later one
 * that the file system can store, which is then put into `*mtime`.
 */
TKB_NODISCARD int tkb_ninja_touch(const struct tkb_ninja_place *place,
                                  const char *const *outputs, size_t count,
                                  int64_t *mtime, struct tkb_error *err);

#endif
