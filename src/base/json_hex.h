/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_JSON_HEX_H
#define TKB_BASE_JSON_HEX_H

/* The digits of a \uXXXX escape, for the two halves of json.h. */

#include <stdint.h>

static inline int tkb_json_hex_value(unsigned char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* The value of four hexadecimal digits, or -1. */
static inline int32_t tkb_json_hex4(const unsigned char *digits)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		const int digit = tkb_json_hex_value(digits[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

#endif
