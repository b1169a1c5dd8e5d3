/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_HEX_H
#define TKB_BASE_HEX_H

/* The value of a hexadecimal digit of either case, or -1. */
static inline int tkb_hex_value(int digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

#endif
