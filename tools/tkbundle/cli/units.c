/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tkbundle/amount.h>

bool units_parse_age(const char *text, uint64_t *out)
{
	uint64_t time_ms;

	if (strstr(text, "ms") != NULL || !tkb_time_parse(text, 0, &time_ms))
		return false;
	*out = time_ms / 1000;
	return true;
}

bool units_parse_time(const char *text, uint64_t *out)
{
	return tkb_time_parse(text, 0, out);
}

/* The largest last. */
static const struct {
	const char *name;
	uint64_t factor;
} times[] = { { "ms", 1 },
	      { "s", 1000 },
	      { "m", 60000 },
	      { "h", 3600000 },
	      { "d", 86400000 } };

#define TIME_COUNT (sizeof(times) / sizeof(times[0]))

void units_show_time(uint64_t time_ms, char out[UNITS_TIME_SIZE])
{
	size_t unit = 0;

	while (unit + 1 < TIME_COUNT && time_ms != 0 &&
	       time_ms % times[unit + 1].factor == 0)
		unit++;
	(void)snprintf(out, UNITS_TIME_SIZE, "%" PRIu64 "%s",
	               time_ms / times[unit].factor, times[unit].name);
}
