/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_PRINT_H
#define TKB_LAUNCH_PRINT_H

/* Printing C source code. */

#include <tkbundle/entry.h>

#include "base/buf.h"

/*
 * Append `text` to a comment: backslashes, question marks, characters other
 * than printable ASCII, and those that would begin or end a comment become
 * dots.
 */
void tkb_print_comment(struct tkb_buf *out, const char *text);

/*
 * Append `bytes` as string literals, one per line, of printable ASCII without
 * "?" (trigraphs) and "@" (templates).
 */
void tkb_print_literal(struct tkb_buf *out, struct tkb_bytes bytes);

/* Write what was printed to `sink`, if nothing failed. */
TKB_NODISCARD int tkb_print_send(const struct tkb_buf *out,
                                 const struct tkb_sink *sink,
                                 struct tkb_error *err);

#endif
