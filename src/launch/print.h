/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_PRINT_H
#define TKB_LAUNCH_PRINT_H

/* How source code is put together. */

#include "base/buf.h"

/* Append as by printf. */
__attribute__((format(printf, 2, 3))) void tkb_print(struct tkb_buf *out,
                                                     const char *format, ...);

/*
 * Append `text` so that it can stand in a comment: what is no printable ASCII,
 * a backslash, a question mark, and what could begin or end a comment become
 * dots.
 */
void tkb_print_comment(struct tkb_buf *out, const char *text);

/*
 * Append `bytes` as string literals, a line each, of printable ASCII without
 * "?", of which trigraphs are made, and "@".
 */
void tkb_print_literal(struct tkb_buf *out, struct tkb_bytes bytes);

#endif
