/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_UNITS_H
#define TKBUNDLE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Times as people write them on a command line, see tkbundle/amount.h: a whole
 * number and a unit, joined. Anything else gives false.
 */

/* "45s", "90m", "12h", "30d": seconds. */
bool units_parse_age(const char *text, uint64_t *out);

/* "500ms", "5s", "2m", "12h", "30d": milliseconds. */
bool units_parse_time(const char *text, uint64_t *out);

/* Room for what units_show_time() writes. */
#define UNITS_TIME_SIZE 24

/* Write milliseconds as units_parse_time() reads them. */
void units_show_time(uint64_t time_ms, char out[UNITS_TIME_SIZE]);

#endif
