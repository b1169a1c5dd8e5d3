/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_CLAIM_H
#define TKB_REMOTE_DIR_DIR_CLAIM_H

/* Claims in a folder: see `claim` of struct tkb_remote_backend. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

/*
 * If locks do not work, or the folder is not writable, `*claim_out` is NULL,
 * and every process fetches for itself.
 */
TKB_NODISCARD int tkb_dir_claim(const char *folder,
                                const struct tkb_digest *digest,
                                void **claim_out, struct tkb_error *err);

void tkb_dir_unclaim(void *claim);

#endif
