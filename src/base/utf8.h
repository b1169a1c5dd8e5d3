/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_UTF8_H
#define TKB_BASE_UTF8_H

/* UTF-8 as in RFC 3629: no overlong forms, no surrogates, up to U+10FFFF. */

#include <tkbundle/entry.h>

#include "base/base.h"

/*
 * Decode the code point at the start of `bytes`. Returns its length in bytes,
 * or 0 if `bytes` do not begin with one.
 */
size_t tkb_utf8_decode(struct tkb_bytes bytes, uint32_t *out);

/*
 * Encode `code` into `out`, which has room for 4 bytes, and return the length.
 * A surrogate is encoded as any other code point is (three bytes).
 */
size_t tkb_utf8_encode(uint32_t code, char *out);

bool tkb_utf8_is_valid(struct tkb_bytes bytes);

/*
 * Is `code` safe to print on a terminal? Control characters (C0, DEL, C1), line
 * and paragraph separators, invisible characters, and those that change the
 * direction of text are not.
 */
bool tkb_utf8_is_harmless(uint32_t code);

/* Is `text` not empty and safe to print on a terminal? */
bool tkb_utf8_is_shown(const char *text);

#endif
