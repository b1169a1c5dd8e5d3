/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_IMAGES_STATEMENT_H
#define TKB_IMAGES_STATEMENT_H

/*
 * What a signature of an image says: a Statement of in-toto whose subject is the
 * image's manifest, under the name that it was pushed as, and whose predicate is that
 * of cosign's, with an end and a number.
 */

#include "trust/in_toto.h"

/* Append it, as canonical JSON. */
void tkb_image_statement_write(const struct tkb_digest *manifest,
                               const char *name, uint64_t expires_s,
                               uint64_t sequence, struct tkb_buf *out);

/*
 * Read one into `arena`; it has one subject. TKB_ERR_CORRUPT where it is something else,
 * or has no end.
 */
TKB_NODISCARD int tkb_image_statement_read(struct tkb_bytes text,
                                           struct tkb_arena *arena,
                                           struct tkb_in_toto *out,
                                           struct tkb_error *err);

#endif
