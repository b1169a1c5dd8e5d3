/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#include <tkbundle/error.h>

/* The smallest code point that needs this many bytes. */
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

bool tkb_utf8_is_harmless(uint32_t code)
{
	/* First and last of each range. */
	static const uint32_t harmful[][2] = {
		{ 0x00, 0x1f },       { 0x7f, 0x9f },
		{ 0xad, 0xad },       /* soft hyphen */
		{ 0x61c, 0x61c },     /* Arabic letter mark */
		{ 0x115f, 0x1160 },   /* fillers */
		{ 0x17b4, 0x17b5 },   /* invisible vowels */
		{ 0x180b, 0x180f },   /* Mongolian selectors */
		{ 0x200b, 0x200f },   /* zero width; direction marks */
		{ 0x2028, 0x202e },   /* separators; bidirectional controls */
		{ 0x2060, 0x206f },   /* zero width; bidirectional isolates */
		{ 0x3164, 0x3164 },   /* filler */
		{ 0xfe00, 0xfe0f },   /* variation selectors */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xffa0, 0xffa0 },   /* filler */
		{ 0xfff0, 0xfffb },   /* interlinear annotations */
		{ 0x1d173, 0x1d17a }, /* musical symbols */
		{ 0xe0000, 0xe0fff }, /* tags */
	};

	for (size_t i = 0; i < TKB_COUNT_OF(harmful); i++) {
		if (code >= harmful[i][0] && code <= harmful[i][1])
			return false;
	}
	return true;
}

/* Write `bytes`, or "\\x1b" for each byte, if the whole fits. */
static size_t show_character(const unsigned char *bytes, size_t length,
                             bool is_shown, char *out, size_t room)
{
	const size_t size = is_shown ? length : 4 * length;

	if (size >= room)
		return size;
	for (size_t i = 0; i < length; i++) {
		if (is_shown)
			out[i] = (char)bytes[i];
		else
			(void)snprintf(out + 4 * i, 5, "\\x%02x", bytes[i]);
	}
	out[size] = '\0';
	return size;
}

size_t tkb_text_show(const char *text, char *out, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;
	const size_t length = strlen(text);
	bool is_full = size == 0;
	size_t used = 0;
	size_t step;

	if (size != 0)
		out[0] = '\0';
	for (size_t at = 0; at < length; at += step) {
		uint32_t code = 0;
		size_t grown = used;

		step = tkb_utf8_decode(
			(struct tkb_bytes){ text + at, length - at }, &code);
		grown += show_character(bytes + at, step == 0 ? 1 : step,
		                        step != 0 && tkb_utf8_is_harmless(code),
		                        is_full ? NULL : out + used,
		                        is_full ? 0 : size - used);
		is_full = is_full || grown >= size;
		used = grown;
		step = step == 0 ? 1 : step;
	}
	return used;
}

size_t tkb_text_repair(const char *text, char *out, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
	const size_t length = strlen(text);
	size_t used = 0;
	size_t step;

	if (size != 0)
		out[0] = '\0';
	for (size_t at = 0; at < length; at += step) {
		const char *from = text + at;
		size_t width;
		uint32_t code;

		step = tkb_utf8_decode((struct tkb_bytes){ from, length - at },
		                       &code);
		width = step == 0 ? strlen(replacement) : step;
		if (used + width < size) {
			memcpy(out + used, step == 0 ? replacement : from,
			       width);
			out[used + width] = '\0';
		} else {
			size = 0; /* no more fits */
		}
		used += width;
		step = step == 0 ? 1 : step;
	}
	return used;
}

bool tkb_utf8_is_shown(const char *text)
{
	const size_t size = strlen(text);
	uint32_t code = 0;

	for (size_t at = 0; at < size;) {
		const size_t length = tkb_utf8_decode(
			(struct tkb_bytes){ text + at, size - at }, &code);

		if (length == 0 || !tkb_utf8_is_harmless(code))
			return false;
		at += length;
	}
	return size > 0;
}
