/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_BASE64_H
#define TKB_REMOTE_NET_BASE64_H

/* Base64 as RFC 4648 has it, with padding. */

#include "base/buf.h"

void tkb_base64_add(struct tkb_bytes bytes, struct tkb_buf *out);

/*
 * Append the bytes that `text` encodes. False unless it is their only spelling:
 * no white space, all padding, and no unused bit set.
 */
bool tkb_base64_read(struct tkb_bytes text, struct tkb_buf *out);

#endif
