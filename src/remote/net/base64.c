/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/base64.h"

#include <openssl/evp.h>

/* OpenSSL's sizes are ints: the limits of buffers are far below INT_MAX. */

void tkb_base64_add(struct tkb_bytes bytes, struct tkb_buf *out)
{
	const size_t size = (bytes.size + 2) / 3 * 4;
	/* OpenSSL also writes a NUL. */
	unsigned char *to = tkb_buf_reserve(out, size + 1);

	if (to == NULL || size == 0)
		return;
	(void)EVP_EncodeBlock(to, bytes.data, (int)bytes.size);
	out->size += size;
}

bool tkb_base64_read(struct tkb_bytes text, struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf again = TKB_BUF_INIT(text.size + 1);
	const char *at = text.data;
	size_t size = text.size / 4 * 3;
	unsigned char *to = tkb_buf_reserve(out, size);

	if (to == NULL)
		return true; /* tkb_buf_check() will report it */
	if (size == 0)
		return text.size == 0;
	if (EVP_DecodeBlock(to, text.data, (int)text.size) != (int)size)
		return false;
	size -= at[text.size - 1] == '=';
	size -= at[text.size - 2] == '=';
	/* OpenSSL accepts other spellings: encode again and compare. */
	tkb_base64_add((struct tkb_bytes){ to, size }, &again);
	if (!tkb_bytes_equal(tkb_buf_bytes(&again), text))
		return false;
	out->size += size;
	return true;
}
