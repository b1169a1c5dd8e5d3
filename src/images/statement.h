/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_IMAGES_STATEMENT_H
#define TKB_IMAGES_STATEMENT_H

/*
 * What is signed for an image: an in-toto Statement. Its subject is the image's
 * manifest, with the name under which the image was pushed. Its predicate is
 * cosign's, with the time of expiry and a sequence number.
 */

#include "trust/in_toto.h"

/* Append the statement as canonical JSON. */
void tkb_image_statement_write(const struct tkb_digest *manifest,
                               const char *name, uint64_t expires_s,
                               uint64_t sequence, struct tkb_buf *out);

/*
 * Read a statement with one subject into `arena`. TKB_ERR_CORRUPT if it is
 * anything else or has no time of expiry.
 */
TKB_NODISCARD int tkb_image_statement_read(struct tkb_bytes text,
                                           struct tkb_arena *arena,
                                           struct tkb_in_toto *out,
                                           struct tkb_error *err);

#endif
