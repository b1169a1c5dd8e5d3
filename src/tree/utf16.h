/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_UTF16_H
#define TKB_TREE_UTF16_H

/*
 * UTF-16 texts as UTF-8, and back. Each unit of 16 bits is converted alone, so
 * that any bytes come back unchanged, even if they are not a valid text.
 */

#include "base/buf.h"

/* The order of the bytes of each unit. */
enum tkb_utf16 {
	TKB_UTF16_NONE, /* not a UTF-16 text */
	TKB_UTF16_LITTLE,
	TKB_UTF16_BIG
};

/* Guess the order from the first units: an order mark, or two of ASCII. */
enum tkb_utf16 tkb_utf16_order(struct tkb_bytes text);

/* Append `text` as UTF-8, without an odd byte at its end. */
void tkb_utf16_narrow(struct tkb_bytes text, enum tkb_utf16 order,
                      struct tkb_buf *out);

/* Append the result of tkb_utf16_narrow(), or a part of it, as UTF-16. */
void tkb_utf16_widen(struct tkb_bytes text, enum tkb_utf16 order,
                     struct tkb_buf *out);

#endif
