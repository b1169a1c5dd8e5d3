/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_STORE_H
#define TKB_REMOTE_DIR_DIR_STORE_H

/*
 * Writing files into the folder of a remote. A file appears whole. With
 * `is_synced` its bytes are on the disk before its name is, and its name is
 * before the call returns. I/O errors are TKB_ERR_IO, with errno set.
 */

#include <tkbundle/remote_backend.h>

#include "base/draft.h"

/*
 * Make `path` and the folders above it, and sync the names of those that are
 * new. `path` is changed while this runs, and restored.
 */
TKB_NODISCARD int tkb_dir_make_folders(char *path, bool is_synced,
                                       struct tkb_error *err);

TKB_NODISCARD int tkb_dir_write(struct tkb_draft *draft,
                                const struct tkb_blob *blob,
                                struct tkb_error *err);

/* `folder_path` is the folder of the draft. */
TKB_NODISCARD int tkb_dir_publish(struct tkb_draft *draft,
                                  const char *folder_path, bool is_synced,
                                  struct tkb_error *err);

#endif
