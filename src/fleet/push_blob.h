/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_BLOB_H
#define TKB_FLEET_PUSH_BLOB_H

#include "remote/remote.h"

/*
 * Upload the bundle in `hold`, then add its record, whose digest goes to
 * `record_out` (may be NULL). `watch` (may be NULL) is told of the bytes that
 * have gone up.
 */
TKB_NODISCARD int tkb_push_blob(struct tkb_remote *remote, const char *ref,
                                struct tkb_blob_buffer *hold,
                                const struct tkb_watch *watch,
                                struct tkb_digest *record_out,
                                struct tkb_error *err);

#endif
