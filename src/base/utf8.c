/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

/* The smallest code point that may take so many bytes. */
static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

static size_t length_of(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	if (lead >= 0xf0 && lead < 0xf5)
		return 4;
	return 0;
}

size_t tkb_utf8_decode(struct tkb_bytes bytes, uint32_t *out)
{
	const unsigned char *at = bytes.data;
	size_t length;
	uint32_t code;

	if (bytes.size == 0)
		return 0;
	length = length_of(at[0]);
	if (length == 0 || length > bytes.size)
		return 0;
	if (length == 1) {
		*out = at[0];
		return 1;
	}

	code = at[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fu);
	}
	if (code < smallest[length] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	*out = code;
	return length;
}

size_t tkb_utf8_encode(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

bool tkb_utf8_is_valid(struct tkb_bytes bytes)
{
	const unsigned char *data = bytes.data;
	uint32_t code;
	size_t at = 0;

	while (at < bytes.size) {
		size_t length = 1;

		if (data[at] >= 0x80) {
			const struct tkb_bytes rest = { data + at,
				                        bytes.size - at };

			length = tkb_utf8_decode(rest, &code);
			if (length == 0)
				return false;
		}
		at += length;
	}
	return true;
}
