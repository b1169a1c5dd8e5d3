/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_JSON_HEX_H
#define TKB_TEXT_JSON_HEX_H

/* The digits of a \uXXXX escape, for both json.c and json_text.c. */

#include <stdint.h>

#include "base/digest.h"

/* The value of four hexadecimal digits, or -1. */
static inline int32_t tkb_json_hex4(const unsigned char *digits)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		const int digit = tkb_hex_value(digits[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

#endif
