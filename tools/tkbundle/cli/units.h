/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_UNITS_H
#define TKBUNDLE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Amounts as people write them on a command line: a whole number and a unit,
 * joined. What is no such thing, or too much for 64 bits, gives false.
 */

/* "500", "500M", "20GB": bytes, powers of 1000; "20Gi", "20GiB": of 1024. */
bool units_parse_size(const char *text, uint64_t *out);

/* "45s", "90m", "12h", "30d": seconds. */
bool units_parse_age(const char *text, uint64_t *out);

/* "500ms", "5s", "2m", "12h", "30d": milliseconds. */
bool units_parse_time(const char *text, uint64_t *out);

/* Room for what units_show_time() writes. */
#define UNITS_TIME_SIZE 24

/* Write milliseconds as units_parse_time() reads them. */
void units_show_time(uint64_t time_ms, char out[UNITS_TIME_SIZE]);

#endif
