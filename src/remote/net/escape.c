/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/escape.h"

#include "base/digest.h"

void tkb_escape(struct tkb_buf *out, const char *text, const char *plain)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char unreserved[] = "abcdefghijklmnopqrstuvwxyz"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789-._~";

	for (; *text != '\0'; text++) {
		const unsigned char byte = (unsigned char)*text;

		if (strchr(unreserved, *text) != NULL ||
		    strchr(plain, *text) != NULL) {
			tkb_buf_add_byte(out, *text);
			continue;
		}
		tkb_buf_add_byte(out, '%');
		tkb_buf_add_byte(out, digits[byte / 16]);
		tkb_buf_add_byte(out, digits[byte % 16]);
	}
}

char tkb_unescape_next(const char **at)
{
	const char *text = *at;

	if (text[0] != '%' || tkb_hex_value(text[1]) < 0 ||
	    tkb_hex_value(text[2]) < 0) {
		*at += 1;
		return text[0];
	}
	*at += 3;
	return (char)(tkb_hex_value(text[1]) * 16 + tkb_hex_value(text[2]));
}
