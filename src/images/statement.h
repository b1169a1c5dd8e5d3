/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_IMAGES_STATEMENT_H
#define TKB_IMAGES_STATEMENT_H

/*
 * What a signature of an image signs: an in-toto Statement. Its subject is the
 * image's manifest, with the name under which the image was pushed; its predicate
 * is cosign's, with the time when it expires and a sequence number.
 */

#include "trust/in_toto.h"

/* Append it, as canonical JSON. */
void tkb_image_statement_write(const struct tkb_digest *manifest,
                               const char *name, uint64_t expires_s,
                               uint64_t sequence, struct tkb_buf *out);

/*
 * Read one into `arena`; it has one subject. TKB_ERR_CORRUPT if it is something
 * else, or does not say when it expires.
 */
TKB_NODISCARD int tkb_image_statement_read(struct tkb_bytes text,
                                           struct tkb_arena *arena,
                                           struct tkb_in_toto *out,
                                           struct tkb_error *err);

#endif
