/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_BASE64_H
#define TKB_REMOTE_NET_BASE64_H

/* Base64 with padding (RFC 4648). */

#include "base/buf.h"

void tkb_base64_add(struct tkb_bytes bytes, struct tkb_buf *out);

/*
 * Append the bytes that `text` encodes. False unless `text` is canonical: no
 * white space, full padding, and unused bits zero.
 */
bool tkb_base64_read(struct tkb_bytes text, struct tkb_buf *out);

#endif
