/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/amount.h>

#include <string.h>

#include "base/base.h"
#include "text/ascii.h"

/* Read the number at the start of `text`. Returns what follows, or NULL. */
static const char *read_leading_number(const char *text, uint64_t *out)
{
	const size_t count = strspn(text, "0123456789");

	return tkb_digits_read(text, count, out) ? text + count : NULL;
}

static bool multiply_checked(uint64_t value, uint64_t factor, uint64_t *out)
{
	if (factor == 0 || value > UINT64_MAX / factor)
		return false;
	*out = value * factor;
	return true;
}

/* The factor of `unit`, such as "MB" or "Ki"; 0 if it is unknown. */
static uint64_t size_factor(const char *unit)
{
	static const char prefixes[] = "KMGTPE";
	const char *prefix = strchr(prefixes, *unit == 'k' ? 'K' : *unit);
	uint64_t factor = 1;

	if (*unit != '\0' && prefix != NULL) {
		const uint64_t base = unit[1] == 'i' ? 1024 : 1000;

		for (const char *at = prefixes; at <= prefix; at++)
			factor *= base;
		unit += base == 1024 ? 2 : 1;
	}
	return *unit == '\0' || strcmp(unit, "B") == 0 ? factor : 0;
}

bool tkb_size_parse(const char *text, uint64_t *out)
{
	uint64_t value;
	const char *unit = read_leading_number(text, &value);

	return unit != NULL && multiply_checked(value, size_factor(unit), out);
}

static uint64_t time_factor(const char *unit, uint64_t unit_ms)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{ "ms", 1 },      { "s", 1000 },     { "m", 60000 },
		{ "h", 3600000 }, { "d", 86400000 },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(units); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].factor;
	}
	return *unit == '\0' ? unit_ms : 0;
}

bool tkb_time_parse(const char *text, uint64_t unit_ms, uint64_t *out)
{
	uint64_t value;
	const char *unit = read_leading_number(text, &value);

	return unit != NULL &&
	       multiply_checked(value, time_factor(unit, unit_ms), out);
}
