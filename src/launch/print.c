/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/print.h"

#include <stdio.h>

enum {
	LINE_WIDTH = 76 /* width of a literal, without the quotes */
};

int tkb_print_send(const struct tkb_buf *out, const struct tkb_sink *sink,
                   struct tkb_error *err)
{
	const int rc = tkb_buf_check(out, err);

	return rc < 0 ? rc : sink->write(sink->self, tkb_buf_bytes(out), err);
}

void tkb_print_comment(struct tkb_buf *out, const char *text)
{
	char before = ' ';

	for (; *text != '\0'; text++) {
		const bool is_plain = *text >= ' ' && *text <= '~' &&
		                      *text != '\\' && *text != '?';
		/* Do not end the comment or start another one. */
		const bool is_mark = (before == '*' && *text == '/') ||
		                     (before == '/' && *text == '*');

		before = is_plain && !is_mark ? *text : '.';
		tkb_buf_add_byte(out, before);
	}
}

static bool is_octal(unsigned char byte)
{
	return byte >= '0' && byte <= '7';
}

/*
 * Write `byte` as it is spelled before `next`: an octal escape would take up
 * octal digits that follow, up to three.
 */
static size_t spell_byte(unsigned char byte, unsigned char next, char out[5])
{
	int length;

	if (byte == '"' || byte == '\\')
		length = snprintf(out, 5, "\\%c", byte);
	else if (byte >= ' ' && byte <= '~' && byte != '?' && byte != '@')
		length = snprintf(out, 5, "%c", byte);
	else
		length = snprintf(out, 5, is_octal(next) ? "\\%03o" : "\\%o",
		                  byte);
	return (size_t)length;
}

void tkb_print_literal(struct tkb_buf *out, struct tkb_bytes bytes)
{
	const unsigned char *const data = bytes.data;
	size_t width = 0;

	tkb_buf_add_byte(out, '"');
	for (size_t i = 0; i < bytes.size; i++) {
		const unsigned char next =
			i + 1 < bytes.size ? data[i + 1] : '\0';
		char spelled[5];
		const size_t length = spell_byte(data[i], next, spelled);

		if (width + length > LINE_WIDTH) {
			tkb_buf_add_text(out, "\"\n\"");
			width = 0;
		}
		tkb_buf_add(out, (struct tkb_bytes){ spelled, length });
		width += length;
	}
	tkb_buf_add_byte(out, '"');
}
