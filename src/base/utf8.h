/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_UTF8_H
#define TKB_BASE_UTF8_H

/* UTF-8 as in RFC 3629: no overlong forms, no surrogates, up to U+10FFFF. */

#include <tkbundle/entry.h>

#include "base/base.h"

/*
 * Decode the code point at the start of `bytes`; its length in bytes is
 * returned, or 0 if there is none.
 */
size_t tkb_utf8_decode(struct tkb_bytes bytes, uint32_t *out);

/*
 * Encode `code` into `out`, which has room for 4; its length is returned. A
 * surrogate is encoded as if it were a code point (three bytes).
 */
size_t tkb_utf8_encode(uint32_t code, char *out);

bool tkb_utf8_is_valid(struct tkb_bytes bytes);

/*
 * Does a terminal only show `code`? That excludes control characters (C0, DEL, C1),
 * line and paragraph separators, invisible characters, and those that change the
 * direction of text.
 */
bool tkb_utf8_is_harmless(uint32_t code);

/* Is a text not empty, and does a terminal only show it? */
bool tkb_utf8_is_shown(const char *text);

#endif
