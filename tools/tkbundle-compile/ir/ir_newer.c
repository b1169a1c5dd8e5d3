/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir_newer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum {
	LONGEST = 64 /* maximum length of a constant */
};

/* The floating-point types, and LLVM 22's notation of their constants. */
static const struct format {
	const char *name;
	int fraction;
	int bias;
	const char *prefix; /* followed by `digits` digits */
	size_t digits;
} formats[] = {
	{ "half", 10, 15, "0xH", 4 },
	{ "bfloat", 7, 127, "0xR", 4 },
	{ "float", 23, 127, "0x", 8 },
	{ "double", 52, 1023, "0x", 16 },
};

enum {
	FORMAT_COUNT = sizeof(formats) / sizeof(formats[0])
};

static const struct format *format_named(const char *word, size_t length)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++) {
		if (strlen(formats[i].name) == length &&
		    memcmp(formats[i].name, word, length) == 0)
			return &formats[i];
	}
	return NULL;
}

static bool is_word_letter(char letter)
{
	return isalnum((unsigned char)letter) || letter == '_' ||
	       letter == '.' || letter == '-' || letter == '$';
}

/* Find the end of a quoted string, name or comment that begins at `at`. */
static const char *skip_name(const char *at, const char *end)
{
	const char *found;

	if (*at == ';') {
		found = memchr(at, '\n', (size_t)(end - at));
		return found == NULL ? end : found;
	}
	if (*at != '"')
		at++;
	if (at < end && *at == '"') {
		found = memchr(at + 1, '"', (size_t)(end - at - 1));
		return found == NULL ? end : found + 1;
	}
	while (at < end && is_word_letter(*at))
		at++;
	return at;
}

/* Write a constant as LLVM 22 does: a float is written as the equal double. */
static void write_bits(const struct format *format, uint64_t bits,
                       char out[LONGEST])
{
	const uint32_t narrow = (uint32_t)bits;
	size_t digits = format->digits;
	double wide;
	float value;

	if (digits == 8) {
		memcpy(&value, &narrow, sizeof(value));
		wide = (double)value;
		memcpy(&bits, &wide, sizeof(bits));
		digits = 16;
	}
	(void)snprintf(out, LONGEST, "%s%0*llX", format->prefix, (int)digits,
	               (unsigned long long)bits);
}

/* Read "f0x3F3504F3". */
static bool read_bits(const struct format *format, const char *word,
                      uint64_t *out)
{
	char *end = NULL;

	if (strncmp(word, "f0x", 3) != 0 || strlen(word + 3) != format->digits)
		return false;
	*out = strtoull(word + 3, &end, 16);
	return *end == '\0';
}

/* The bits of the nearest number to `value`, which is not negative. */
static uint64_t round_to(const struct format *format, double value)
{
	const int fraction = format->fraction;
	const uint64_t infinity = (uint64_t)(2 * format->bias + 1) << fraction;
	int exponent = 0;
	uint64_t bits;

	if (value == 0)
		return 0;
	(void)frexp(value, &exponent);
	exponent--; /* value is 1.x times 2 to the exponent */
	if (exponent < 1 - format->bias)
		exponent = 1 - format->bias;
	bits = (uint64_t)(ldexp(value, fraction - exponent) + 0.5);
	if (exponent > format->bias)
		return infinity;
	return bits + ((uint64_t)(exponent + format->bias - 1) << fraction);
}

/* Read "1.002960e+00", "+inf" or "-qnan". */
static bool read_value(const struct format *format, const char *word,
                       uint64_t *out)
{
	const bool is_negative = word[0] == '-';
	const char *value = word + (word[0] == '-' || word[0] == '+');
	const uint64_t one = 1;
	char *end = NULL;

	if (strcmp(value, "inf") == 0 || strcmp(value, "qnan") == 0) {
		*out = (uint64_t)(2 * format->bias + 1) << format->fraction;
		if (value[0] == 'q')
			*out |= one << (format->fraction - 1);
	} else {
		if (!isdigit((unsigned char)value[0]) ||
		    strchr(value, '.') == NULL || format->digits == 16)
			return false;
		*out = round_to(format, strtod(value, &end));
		if (*end != '\0')
			return false;
	}
	*out |= (uint64_t)is_negative << (format->digits * 4 - 1);
	return true;
}

/*
 * Copy a word. A type is remembered for the constants after it in the line, and
 * such a constant is translated. Returns whether it was.
 */
static bool add_newer_word(const char *word, size_t length,
                           const struct format **format, struct tkb_buf *out)
{
	const struct format *named = format_named(word, length);
	char text[LONGEST] = "";
	uint64_t bits = 0;

	if (named != NULL)
		*format = named;
	if (length < LONGEST)
		memcpy(text, word, length);
	if (*format != NULL && (read_bits(*format, text, &bits) ||
	                        read_value(*format, text, &bits))) {
		write_bits(*format, bits, text);
		tkb_buf_add_text(out, text);
		return true;
	}
	tkb_buf_add(out, (struct tkb_bytes){ word, length });
	return false;
}

size_t ir_newer_translate(struct tkb_bytes ir, struct tkb_buf *out)
{
	const char *at = ir.data;
	const char *end = at + ir.size;
	const struct format *format = NULL;
	size_t count = 0;

	while (at < end) {
		const char *begin = at;

		if (*at == '\n')
			format = NULL;
		if (*at != '\0' && strchr("%@!#$\";", *at) != NULL) {
			at = skip_name(at, end);
			tkb_buf_add(out, (struct tkb_bytes){
						 begin, (size_t)(at - begin) });
			continue;
		}
		if (!is_word_letter(*at) && *at != '+') {
			tkb_buf_add_byte(out, *at++);
			continue;
		}
		do {
			at++;
		} while (at < end && (is_word_letter(*at) || *at == '+'));
		count += add_newer_word(begin, (size_t)(at - begin), &format,
		                        out);
	}
	return count;
}
