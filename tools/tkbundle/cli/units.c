/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Read the number that `text` begins with. @return the rest of it, or NULL */
static const char *take_number(const char *text, uint64_t *out)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		const unsigned digit = (unsigned)(*text - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return NULL;
		value = value * 10 + digit;
	}

	*out = value;
	return text;
}

static bool multiply(uint64_t value, uint64_t factor, uint64_t *out)
{
	if (value > UINT64_MAX / factor)
		return false;
	*out = value * factor;
	return true;
}

bool units_parse_size(const char *text, uint64_t *out)
{
	static const char prefixes[] = "KMGTPE";
	const char *unit;
	const char *prefix;
	uint64_t value;
	uint64_t factor = 1;
	uint64_t base = 1000;

	unit = take_number(text, &value);
	if (unit == NULL)
		return false;

	prefix = strchr(prefixes, *unit == 'k' ? 'K' : *unit);
	if (prefix != NULL && *prefix != '\0') {
		unit++;
		base = *unit == 'i' ? 1024 : 1000;
		unit += *unit == 'i' ? 1 : 0;
		for (ptrdiff_t i = 0; i <= prefix - prefixes; i++)
			factor *= base;
	}
	if (*unit != '\0' && strcmp(unit, "B") != 0)
		return false;
	return multiply(value, factor, out);
}

struct unit {
	const char *name;
	uint64_t factor;
};

static bool parse(const char *text, const struct unit *units, size_t count,
                  uint64_t *out)
{
	uint64_t value;
	const char *const unit = take_number(text, &value);

	for (size_t i = 0; unit != NULL && i < count; i++) {
		if (strcmp(unit, units[i].name) == 0)
			return multiply(value, units[i].factor, out);
	}

	return false;
}

bool units_parse_age(const char *text, uint64_t *out)
{
	static const struct unit units[] = {
		{ "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }
	};

	return parse(text, units, sizeof(units) / sizeof(units[0]), out);
}

/* The largest unit last. */
static const struct unit times[] = { { "ms", 1 },
	                             { "s", 1000 },
	                             { "m", 60000 },
	                             { "h", 3600000 },
	                             { "d", 86400000 } };

#define TIME_COUNT (sizeof(times) / sizeof(times[0]))

bool units_parse_time(const char *text, uint64_t *out)
{
	return parse(text, times, TIME_COUNT, out);
}

void units_show_time(uint64_t time_ms, char out[UNITS_TIME_SIZE])
{
	size_t unit = 0;

	while (unit + 1 < TIME_COUNT && time_ms != 0 &&
	       time_ms % times[unit + 1].factor == 0)
		unit++;
	(void)snprintf(out, UNITS_TIME_SIZE, "%" PRIu64 "%s",
	               time_ms / times[unit].factor, times[unit].name);
}
