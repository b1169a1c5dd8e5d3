/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_ASCII_H
#define TKB_TEXT_ASCII_H

/* Classes of ASCII characters, independent of the locale. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool tkb_is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool tkb_is_lower(int byte)
{
	return byte >= 'a' && byte <= 'z';
}

static inline bool tkb_is_upper(int byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static inline bool tkb_is_letter(int byte)
{
	return tkb_is_lower(byte) || tkb_is_upper(byte);
}

/* Is `byte` one of the characters of `bytes`? A zero byte never is. */
static inline bool tkb_is_one_of(unsigned char byte, const char *bytes)
{
	return byte != '\0' && strchr(bytes, byte) != NULL;
}

/* Is there a control character, other than DEL? */
static inline bool tkb_has_control(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)text[i] < 0x20)
			return true;
	}
	return false;
}

/*
 * The number that `count` decimal digits spell; false if there are none, one is no
 * digit, or it has more than 64 bits.
 */
static inline bool tkb_digits_read(const char *digits, size_t count,
                                   uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t digit = (uint64_t)(digits[i] - '0');

		if (!tkb_is_digit(digits[i]) ||
		    value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return count != 0;
}

#endif
