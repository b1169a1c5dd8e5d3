/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_ASCII_H
#define TKB_TEXT_ASCII_H

/* Classes of ASCII characters, independent of the locale. */

#include <stdbool.h>
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

#endif
