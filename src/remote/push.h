/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_PUSH_H
#define TKB_REMOTE_PUSH_H

/* What those share that bring a bundle into a ref. */

#include "remote/remote.h"

/*
 * Upload the bundle in `hold`, then add its record, whose digest goes to
 * `record_out` (may be NULL).
 */
TKB_NODISCARD int tkb_push_blob(struct tkb_remote *remote, const char *ref,
                                struct tkb_hold *hold,
                                struct tkb_digest *record_out,
                                struct tkb_error *err);

#endif
