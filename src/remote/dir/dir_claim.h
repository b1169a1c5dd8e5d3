/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_DIR_DIR_CLAIM_H
#define TKB_REMOTE_DIR_DIR_CLAIM_H

/* Claims in a folder, as struct tkb_remote_backend has them. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

/*
 * Where locks do not work, or nothing may be written, `*claim_out` is NULL, and
 * everyone fetches.
 */
TKB_NODISCARD int tkb_dir_claim(const char *folder,
                                const struct tkb_digest *digest,
                                void **claim_out, struct tkb_error *err);

void tkb_dir_unclaim(void *claim);

#endif
