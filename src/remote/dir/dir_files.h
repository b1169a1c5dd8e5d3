/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_FILES_H
#define TKB_REMOTE_DIR_DIR_FILES_H

/*
 * A folder as a remote: blobs are `cas/ab/<sha256>`, records
 * `ref/<name>/<sha256>`, with a comma for each slash in the ref's name. Files
 * appear whole, by a link or a rename, so any number of processes may use the
 * folder at once, also on NFS. Unless the URL says sync=false, file contents are
 * synced before the file appears, and its name before a put returns: a blob
 * under its digest is whole even after a power loss.
 */

#include <sys/stat.h>
#include <time.h>

#include <tkbundle/remote_backend.h>

#include "base/buf.h"

struct tkb_dir_folder {
	char *path; /* owned; absolute */
	bool is_synced;
	struct tkb_buf file; /* result of the last tkb_dir_file_path() */
};

enum {
	TKB_DIR_PATH_LIMIT = 16 * 1024
};

/*
 * Make the path "<folder>/cas/ab/<sha256>" or "<folder>/ref/<name>/<sha256>".
 * It is valid until the next call.
 */
TKB_NODISCARD int tkb_dir_file_path(struct tkb_dir_folder *folder,
                                    const char *ref,
                                    const struct tkb_digest *digest,
                                    char **path_out, struct tkb_error *err);

/*
 * Fail with "cannot <what> '<name>'" according to errno. Only ENOENT is a miss.
 * ENOTDIR is not: if a file hid a folder of records and that counted as empty,
 * gc would remove the blobs that the records name.
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

/*
 * The current time by the clock that sets the times of files, which may be a
 * file server's.
 */
time_t tkb_dir_now(const struct tkb_dir_folder *folder);

/* Seconds since the file was written. */
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
