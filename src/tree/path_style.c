/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/path_style.h"

#include <stdio.h>

#include "base/utf8.h"
#include "text/ascii.h"
#include "text/json.h"

static const char *const names[] = {
	[TKB_PATH_STYLE_NONE] = "none",     [TKB_PATH_STYLE_JSON] = "json",
	[TKB_PATH_STYLE_PYTHON] = "python", [TKB_PATH_STYLE_NINJA] = "ninja",
	[TKB_PATH_STYLE_TEXT] = "text",     [TKB_PATH_STYLE_BUILD] = "build",
};

const char *tkb_path_style_name(unsigned style)
{
	return style < TKB_COUNT_OF(names) ? names[style] : NULL;
}

const char *tkb_path_spelling_other(enum tkb_path_style style)
{
	switch (style) {
	case TKB_PATH_STYLE_JSON:
		return "utf-8";
	case TKB_PATH_STYLE_PYTHON:
		return "ascii";
	case TKB_PATH_STYLE_NINJA:
		return "value";
	case TKB_PATH_STYLE_NONE:
	case TKB_PATH_STYLE_TEXT:
	case TKB_PATH_STYLE_BUILD:
		break;
	}
	return NULL;
}

/* One character of a path, or one byte that is not valid UTF-8. */
struct character {
	struct tkb_bytes bytes;
	uint32_t code; /* of such a byte: the surrogate of os.fsdecode() */
	bool is_valid;
};

static struct character character_at(struct tkb_bytes path, size_t at)
{
	struct character character = { .is_valid = true };
	size_t length = tkb_utf8_decode(tkb_bytes_slice(path, at, path.size),
	                                &character.code);

	if (length == 0) {
		length = 1;
		character.is_valid = false;
		character.code =
			0xdc00u + ((const unsigned char *)path.data)[at];
	}
	character.bytes = tkb_bytes_slice(path, at, at + length);
	return character;
}

static void spell_json(const struct character *character, bool is_other,
                       struct tkb_buf *out)
{
	if (is_other && character->is_valid && character->code >= 0x7f)
		tkb_buf_add(out, character->bytes);
	else
		tkb_json_escape_python(character->bytes, out);
}

static void add_python_escape(uint32_t code, struct tkb_buf *out)
{
	char escape[16];

	if (code == '\t' || code == '\n' || code == '\r')
		(void)snprintf(escape, sizeof(escape), "\\%c",
		               code == '\t'   ? 't'
		               : code == '\n' ? 'n'
		                              : 'r');
	else if (code < 0x100)
		(void)snprintf(escape, sizeof(escape), "\\x%02x",
		               (unsigned)code);
	else if (code < 0x10000)
		(void)snprintf(escape, sizeof(escape), "\\u%04x",
		               (unsigned)code);
	else
		(void)snprintf(escape, sizeof(escape), "\\U%08x",
		               (unsigned)code);
	tkb_buf_add_text(out, escape);
}

static bool spell_python(const struct character *character, bool is_other,
                         char quote, struct tkb_buf *out)
{
	const uint32_t code = character->code;

	if (code == '\'' || code == '"') {
		if (quote == '\0')
			return false;
		if (code == (unsigned char)quote)
			tkb_buf_add_byte(out, '\\');
		tkb_buf_add_byte(out, (char)code);
	} else if (code == '\\') {
		tkb_buf_add_text(out, "\\\\");
	} else if ((code >= 0x20 && code < 0x7f) ||
	           (!is_other && character->is_valid && code > 0xa0 &&
	            tkb_utf8_is_harmless(code))) {
		tkb_buf_add(out, character->bytes);
	} else {
		add_python_escape(code, out);
	}
	return true;
}

static bool spell_plain(const struct character *character,
                        struct tkb_path_spelling spelling, struct tkb_buf *out)
{
	const uint32_t code = character->code;

	if (code < 0x20 || code == 0x7f)
		return false;
	if (spelling.style == TKB_PATH_STYLE_NINJA &&
	    (code == '$' ||
	     (!spelling.is_other && (code == ' ' || code == ':'))))
		tkb_buf_add_byte(out, '$');
	tkb_buf_add(out, character->bytes);
	return true;
}

bool tkb_path_spell(struct tkb_path_spelling spelling, const char *path,
                    struct tkb_buf *out)
{
	const struct tkb_bytes bytes = tkb_text(path);
	bool is_spelled = true;

	for (size_t at = 0; at < bytes.size && is_spelled;) {
		const struct character character = character_at(bytes, at);

		if (spelling.style == TKB_PATH_STYLE_JSON)
			spell_json(&character, spelling.is_other, out);
		else if (spelling.style == TKB_PATH_STYLE_PYTHON)
			is_spelled = spell_python(&character, spelling.is_other,
			                          spelling.quote, out);
		else
			is_spelled = spell_plain(&character, spelling, out);
		at += character.bytes.size;
	}
	return is_spelled;
}

static unsigned char text_byte_at(struct tkb_bytes text, size_t at)
{
	return ((const unsigned char *)text.data)[at];
}

/* Is the byte at `at` after an odd number of `escape` characters? */
static bool is_escaped(struct tkb_bytes text, size_t at, char escape)
{
	size_t first = at;

	while (first > 0 &&
	       text_byte_at(text, first - 1) == (unsigned char)escape)
		first--;
	return (at - first) % 2 == 1;
}

static bool has_backslashes(enum tkb_path_style style)
{
	return style == TKB_PATH_STYLE_JSON || style == TKB_PATH_STYLE_PYTHON;
}

/* Letters that, after a backslash, mean white space or a quote. */
static const char escaped_ends[] = "nrtfbv\"'";

/* May a path begin right after the byte at `at`? */
static bool is_opener(enum tkb_path_style style, struct tkb_bytes text,
                      size_t at)
{
	const unsigned char byte = text_byte_at(text, at);

	if (has_backslashes(style) && is_escaped(text, at, '\\'))
		return tkb_is_one_of(byte, escaped_ends);
	if (style == TKB_PATH_STYLE_NINJA && is_escaped(text, at, '$'))
		return false;
	return byte <= ' ' || tkb_is_one_of(byte, "'\"`=:,;([{<|&!#@");
}

bool tkb_path_begins(enum tkb_path_style style, struct tkb_bytes text,
                     size_t at)
{
	if (at == 0 || is_opener(style, text, at - 1))
		return true;
	/* as in "-I/usr/include" */
	if (at < 2 || text_byte_at(text, at - 2) != '-' ||
	    !tkb_is_one_of(text_byte_at(text, at - 1), "BILo"))
		return false;
	return at == 2 || is_opener(style, text, at - 3);
}

bool tkb_path_ends(enum tkb_path_style style, struct tkb_bytes text, size_t at)
{
	unsigned char byte;

	if (at == text.size)
		return true;
	byte = text_byte_at(text, at);
	if (has_backslashes(style) && byte == '\\')
		return at + 1 < text.size &&
		       tkb_is_one_of(text_byte_at(text, at + 1), escaped_ends);
	return byte <= ' ' || tkb_is_one_of(byte, "/'\"`:,;)]}>|&");
}

char tkb_path_quote(enum tkb_path_style style, struct tkb_bytes text, size_t at)
{
	unsigned char byte;

	if (style != TKB_PATH_STYLE_PYTHON || at == 0)
		return '\0';
	byte = text_byte_at(text, at - 1);
	if ((byte != '\'' && byte != '"') || is_escaped(text, at - 1, '\\'))
		return '\0';
	return (char)byte;
}
