/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include <stdio.h>

#include "base/digest.h"
#include "base/utf8.h"

static bool has_escapes(struct tkb_bytes raw)
{
	return memchr(raw.data, '\\', raw.size) != NULL;
}

/* One byte of a string, or one escape: `took` raw bytes stand for `bytes`. */
struct unit {
	size_t took;
	size_t size; /* of `bytes` */
	char bytes[4];
};

static struct unit unicode_unit(const unsigned char *escape, size_t left)
{
	uint32_t code = (uint32_t)tkb_hex4_value(escape + 2);
	struct unit unit = { .took = 6 };

	if (code >= 0xd800 && code < 0xdc00 && left >= 12 &&
	    escape[6] == '\\' && escape[7] == 'u') {
		const uint32_t low = (uint32_t)tkb_hex4_value(escape + 8);

		if (low >= 0xdc00 && low < 0xe000) {
			code = 0x10000 + ((code - 0xd800) << 10) +
			       (low - 0xdc00);
			unit.took = 12;
		}
	}
	/* How "surrogateescape" encodes a byte that is not UTF-8. */
	if (code >= 0xdc80 && code < 0xdd00) {
		unit.bytes[0] = (char)(code - 0xdc00);
		unit.size = 1;
	} else {
		unit.size = tkb_utf8_encode(code, unit.bytes);
	}
	return unit;
}

static struct unit unit_at(struct tkb_bytes raw, size_t at)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const unsigned char *text = (const unsigned char *)raw.data + at;
	struct unit unit = { .took = 1, .size = 1 };

	if (text[0] != '\\') {
		unit.bytes[0] = (char)text[0];
		return unit;
	}
	if (text[1] == 'u')
		return unicode_unit(text, raw.size - at);
	unit.took = 2;
	unit.bytes[0] = to[strchr(from, text[1]) - from];
	return unit;
}

void tkb_json_decode(struct tkb_bytes raw, struct tkb_buf *out)
{
	if (!has_escapes(raw)) {
		tkb_buf_add(out, raw);
		return;
	}
	for (size_t at = 0; at < raw.size;) {
		const struct unit unit = unit_at(raw, at);

		tkb_buf_add(out, (struct tkb_bytes){ unit.bytes, unit.size });
		at += unit.took;
	}
}

bool tkb_json_begins(struct tkb_bytes raw, struct tkb_bytes prefix,
                     size_t *end_out)
{
	const char *wanted = prefix.data;
	size_t matched = 0;
	size_t at = 0;

	if (!has_escapes(raw)) {
		*end_out = prefix.size;
		return tkb_bytes_begin_with(raw, prefix);
	}
	while (matched < prefix.size) {
		struct unit unit;

		if (at >= raw.size)
			return false;
		unit = unit_at(raw, at);
		if (unit.size > prefix.size - matched ||
		    memcmp(unit.bytes, wanted + matched, unit.size) != 0)
			return false;
		matched += unit.size;
		at += unit.took;
	}
	*end_out = at;
	return true;
}

size_t tkb_json_last_slash(struct tkb_bytes raw, size_t *length_out)
{
	const char *slash;
	size_t found = SIZE_MAX;

	if (!has_escapes(raw)) {
		*length_out = 1;
		slash = memrchr(raw.data, '/', raw.size);
		return slash == NULL ? SIZE_MAX
		                     : (size_t)(slash - (const char *)raw.data);
	}
	for (size_t at = 0; at < raw.size;) {
		const struct unit unit = unit_at(raw, at);

		if (unit.size == 1 && unit.bytes[0] == '/') {
			found = at;
			*length_out = unit.took;
		}
		at += unit.took;
	}
	return found;
}

bool tkb_json_equals(struct tkb_bytes raw, struct tkb_bytes value)
{
	size_t end;

	return tkb_json_begins(raw, value, &end) && end == raw.size;
}

static void add_escape(uint32_t unit, struct tkb_buf *out)
{
	char escape[8];

	(void)snprintf(escape, sizeof(escape), "\\u%04x",
	               (unsigned)(unit & 0xffff));
	tkb_buf_add_text(out, escape);
}

static void escape_code(uint32_t code, struct tkb_buf *out)
{
	static const char from[] = "\"\\\b\f\n\r\t";
	static const char to[] = "\"\\bfnrt";
	const char *found;

	if (code >= 0x10000) {
		add_escape(0xd800 + ((code - 0x10000) >> 10), out);
		add_escape(0xdc00 + ((code - 0x10000) & 0x3ff), out);
		return;
	}
	found = code != 0 && code < 0x80 ? strchr(from, (int)code) : NULL;
	if (found != NULL) {
		tkb_buf_add_byte(out, '\\');
		tkb_buf_add_byte(out, to[found - from]);
	} else if (code >= 0x20 && code < 0x7f) {
		tkb_buf_add_byte(out, (char)code);
	} else {
		add_escape(code, out);
	}
}

void tkb_json_escape_python(struct tkb_bytes bytes, struct tkb_buf *out)
{
	const unsigned char *data = bytes.data;
	size_t at = 0;

	while (at < bytes.size) {
		uint32_t code = 0;
		size_t length = tkb_utf8_decode(
			tkb_bytes_slice(bytes, at, bytes.size), &code);

		if (length == 0) {
			code = 0xdc00u + data[at]; /* "surrogateescape" */
			length = 1;
		}
		escape_code(code, out);
		at += length;
	}
}

void tkb_json_quote(struct tkb_bytes bytes, struct tkb_buf *out)
{
	const unsigned char *data = bytes.data;
	size_t from = 0;

	tkb_buf_add_byte(out, '"');
	for (size_t at = 0; at < bytes.size; at++) {
		if (data[at] >= 0x20 && data[at] != '"' && data[at] != '\\')
			continue;
		tkb_buf_add(out, tkb_bytes_slice(bytes, from, at));
		from = at + 1;
		if (data[at] < 0x20) {
			add_escape(data[at], out);
		} else {
			tkb_buf_add_byte(out, '\\');
			tkb_buf_add_byte(out, (char)data[at]);
		}
	}
	tkb_buf_add(out, tkb_bytes_slice(bytes, from, bytes.size));
	tkb_buf_add_byte(out, '"');
}

void tkb_json_add_text(struct tkb_buf *out, const char *before,
                       const char *text)
{
	tkb_buf_add_text(out, before);
	tkb_json_quote(tkb_text(text), out);
}

void tkb_json_add_number(struct tkb_buf *out, const char *before,
                         uint64_t number)
{
	tkb_buf_add_text(out, before);
	tkb_buf_add_number(out, number);
}

void tkb_json_add_digest(struct tkb_buf *out, const char *before,
                         const struct tkb_digest *digest)
{
	tkb_json_add_text(out, before, tkb_digest_hex(digest).text);
}
