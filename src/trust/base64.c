/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "abcdefghijklmnopqrstuvwxyz0123456789+/";

void tkb_base64_add(struct tkb_bytes bytes, struct tkb_buf *out)
{
	const unsigned char *data = bytes.data;

	for (size_t i = 0; i < bytes.size; i += 3) {
		const size_t left = bytes.size - i;
		const uint32_t bits =
			(uint32_t)data[i] << 16 |
			(left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
			(left > 2 ? (uint32_t)data[i + 2] : 0);

		tkb_buf_add_byte(out, letters[bits >> 18]);
		tkb_buf_add_byte(out, letters[bits >> 12 & 63]);
		tkb_buf_add_byte(out, left > 1 ? letters[bits >> 6 & 63] : '=');
		tkb_buf_add_byte(out, left > 2 ? letters[bits & 63] : '=');
	}
}

/* The six bits of a letter, or 64. */
static uint32_t value_of(char letter)
{
	const char *found = letter == '\0' ? NULL : strchr(letters, letter);

	return found == NULL ? 64 : (uint32_t)(found - letters);
}

/* Four letters, of which the last `pad` are padding. */
static bool read_four(const char *text, size_t pad, struct tkb_buf *out)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < 4 - pad; i++) {
		const uint32_t value = value_of(text[i]);

		if (value == 64)
			return false;
		bits |= value << (18 - 6 * i);
	}
	if ((bits & ((1u << 8 * pad) - 1)) != 0)
		return false;
	for (size_t i = 0; i < 3 - pad; i++)
		tkb_buf_add_byte(out, (char)(bits >> (16 - 8 * i) & 255));
	return true;
}

bool tkb_base64_read(struct tkb_bytes text, struct tkb_buf *out)
{
	const char *at = text.data;
	const size_t size = text.size;
	size_t pad = 0;

	if (size % 4 != 0)
		return false;
	if (size > 0 && at[size - 1] == '=')
		pad = at[size - 2] == '=' ? 2 : 1;
	for (size_t i = 0; i < size; i += 4) {
		if (!read_four(at + i, i + 4 == size ? pad : 0, out))
			return false;
	}
	return true;
}
