/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_STORE_H
#define TKB_REMOTE_DIR_DIR_STORE_H

/*
 * How a file comes into the folder of a remote: whole, and with `is_synced` on
 * the disk before its name is, and its name before this returns. Failures of
 * the system are TKB_ERR_IO, and errno says which.
 */

#include <tkbundle/remote_backend.h>

#include "base/draft.h"

/*
 * Make `path` and the folders above it; it is cut into parts meanwhile. The
 * names of folders that are made are synced, too.
 */
TKB_NODISCARD int tkb_dir_make_folders(char *path, bool is_synced,
                                       struct tkb_error *err);

TKB_NODISCARD int tkb_dir_write(struct tkb_draft *draft,
                                const struct tkb_blob *blob,
                                struct tkb_error *err);

/* `folder_path` is where the draft lies. */
TKB_NODISCARD int tkb_dir_publish(struct tkb_draft *draft,
                                  const char *folder_path, bool is_synced,
                                  struct tkb_error *err);

#endif
