/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/utf16.h"

#include "base/utf8.h"

enum {
	MARK = 0xfeff,
	UNIT_SIZE = 2
};

static unsigned unit_at(struct tkb_bytes text, size_t at, enum tkb_utf16 order)
{
	const unsigned char *bytes = text.data;
	const unsigned first = bytes[at];
	const unsigned second = bytes[at + 1];

	return order == TKB_UTF16_BIG ? first << 8 | second
	                              : second << 8 | first;
}

static bool is_ascii(unsigned unit)
{
	return unit != 0 && unit < 0x80;
}

enum tkb_utf16 tkb_utf16_order(struct tkb_bytes text)
{
	static const enum tkb_utf16 orders[] = { TKB_UTF16_LITTLE,
		                                 TKB_UTF16_BIG };

	for (size_t i = 0; i < TKB_COUNT_OF(orders); i++) {
		if (text.size >= UNIT_SIZE &&
		    unit_at(text, 0, orders[i]) == MARK)
			return orders[i];
		if (text.size >= 2 * UNIT_SIZE &&
		    is_ascii(unit_at(text, 0, orders[i])) &&
		    is_ascii(unit_at(text, UNIT_SIZE, orders[i])))
			return orders[i];
	}
	return TKB_UTF16_NONE;
}

void tkb_utf16_narrow(struct tkb_bytes text, enum tkb_utf16 order,
                      struct tkb_buf *out)
{
	for (size_t at = 0; at + 1 < text.size; at += UNIT_SIZE) {
		char bytes[4];
		const size_t size =
			tkb_utf8_encode(unit_at(text, at, order), bytes);

		tkb_buf_add(out, (struct tkb_bytes){ bytes, size });
	}
}

static void add_code_unit(unsigned unit, enum tkb_utf16 order,
                          struct tkb_buf *out)
{
	const char low = (char)(unit & 0xff);
	const char high = (char)(unit >> 8);

	tkb_buf_add_byte(out, order == TKB_UTF16_BIG ? high : low);
	tkb_buf_add_byte(out, order == TKB_UTF16_BIG ? low : high);
}

void tkb_utf16_widen(struct tkb_bytes text, enum tkb_utf16 order,
                     struct tkb_buf *out)
{
	const unsigned char *bytes = text.data;
	size_t at = 0;

	while (at < text.size) {
		const unsigned first = bytes[at];
		const size_t more = first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
		unsigned unit = first;

		if (more > 0)
			unit &= more == 2 ? 0x0fU : 0x1fU;
		for (size_t i = 1; i <= more && at + i < text.size; i++)
			unit = unit << 6 | (bytes[at + i] & 0x3fU);
		add_code_unit(unit & 0xffffU, order, out);
		at += 1 + more;
	}
}
