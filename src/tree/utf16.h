/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_UTF16_H
#define TKB_TREE_UTF16_H

/*
 * Texts of UTF-16, as UTF-8 and back. Each unit of 16 bits is taken for itself: any
 * bytes whatsoever come back as they were, though they are no whole text.
 */

#include "base/buf.h"

/* The order of the bytes of each unit. */
enum tkb_utf16 {
	TKB_UTF16_NONE, /* it is not such a text */
	TKB_UTF16_LITTLE,
	TKB_UTF16_BIG
};

/* What its first units look like: a mark of the order, or two of ASCII. */
enum tkb_utf16 tkb_utf16_order(struct tkb_bytes text);

/* Append `text` as UTF-8; an odd byte at its end is not of it. */
void tkb_utf16_narrow(struct tkb_bytes text, enum tkb_utf16 order,
                      struct tkb_buf *out);

/* Append what tkb_utf16_narrow() made, or a part of it, as it was. */
void tkb_utf16_widen(struct tkb_bytes text, enum tkb_utf16 order,
                     struct tkb_buf *out);

#endif
