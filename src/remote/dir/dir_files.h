/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_FILES_H
#define TKB_REMOTE_DIR_DIR_FILES_H

/*
 * A folder: blobs are `cas/ab/<sha256>`, records `ref/<name>/<sha256>`, where a
 * comma stands for each slash in the ref's name. Files appear whole, by a link
 * or a rename, so any number of processes may use it at once; on NFS too. They
 * are on the disk before they appear, and their names before a put returns,
 * unless the URL says sync=false: a blob under its digest is whole, also after a
 * loss of power.
 */

#include <sys/stat.h>
#include <time.h>

#include <tkbundle/remote_backend.h>

#include "base/buf.h"

struct tkb_dir_folder {
	char *path; /* owned; absolute */
	bool is_synced;
	struct tkb_buf file; /* the path that was asked for last */
};

enum {
	TKB_DIR_PATH_LIMIT = 16 * 1024
};

/*
 * "<folder>/cas/ab/<sha256>" or "<folder>/ref/<name>/<sha256>", until it is called
 * again.
 */
TKB_NODISCARD int tkb_dir_file_path(struct tkb_dir_folder *folder,
                                    const char *ref,
                                    const struct tkb_digest *digest,
                                    char **path_out, struct tkb_error *err);

/*
 * "cannot <what> '<name>'", by errno. Only ENOENT is a miss. ENOTDIR is not: whoever
 * takes a folder that is hidden by a file for an empty one may remove the blobs that
 * its records name.
 */
TKB_NODISCARD int tkb_dir_fail_unless_missing(struct tkb_error *err,
                                              const char *what,
                                              const char *name);

TKB_NODISCARD int tkb_dir_file_open(struct tkb_dir_folder *folder,
                                    const char *ref,
                                    const struct tkb_digest *digest, int *out,
                                    struct tkb_error *err);

TKB_NODISCARD int tkb_dir_file_store(struct tkb_dir_folder *folder,
                                     const char *ref,
                                     const struct tkb_digest *digest,
                                     const struct tkb_blob *blob,
                                     struct tkb_error *err);

TKB_NODISCARD int tkb_dir_file_remove(struct tkb_dir_folder *folder,
                                      const char *ref,
                                      const struct tkb_digest *digest,
                                      struct tkb_error *err);

/* The time by the file server's clock, which sets the times of files. */
time_t tkb_dir_now(const struct tkb_dir_folder *folder);

/* The seconds since the file was written. */
uint64_t tkb_dir_age(const struct stat *status, time_t now);

/* Called for each file of a folder whose name is a digest. */
struct tkb_dir_visitor {
	int (*on_digest)(void *self, int dir_fd, const char *name,
	                 const struct tkb_digest *digest,
	                 struct tkb_error *err);
	void *self;
};

/* A missing folder is an empty one. */
TKB_NODISCARD int tkb_dir_visit(int dir_fd, const char *path,
                                const struct tkb_dir_visitor *visitor,
                                struct tkb_error *err);

#endif
