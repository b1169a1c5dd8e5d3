/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_STORE_H
#define TKB_REMOTE_DIR_DIR_STORE_H

/*
 * Writing files into the folder of a remote. A file appears whole. With
 * `is_synced`, its contents are synced before it appears, and its name before
 * the call returns. I/O errors are TKB_ERR_IO, with errno set.
 */

#include <tkbundle/remote_backend.h>

#include "base/draft.h"

/*
 * Make `path` and the folders above it, and sync the names of new folders. The
 * text `path` is changed during the call, and restored.
 */
TKB_NODISCARD int tkb_dir_make_folders(char *path, bool is_synced,
                                       struct tkb_error *err);

/* `folder_path` is the path of the draft's folder. */
TKB_NODISCARD int tkb_dir_publish(struct tkb_draft *draft,
                                  const char *folder_path, bool is_synced,
                                  struct tkb_error *err);

#endif
