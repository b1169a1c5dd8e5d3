/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_AMOUNT_H
#define TKBUNDLE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <tkbundle/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/amount.h
 * Sizes and times as people write them on the command line, in the
 * configuration and in a remote's URL: a whole number followed by a unit.
 */

/**
 * Read a size. "500" and "500B" are bytes; "500k", "500M", "20GB" count in
 * powers of 1000, "20Gi", "20GiB" of 1024, up to E.
 *
 * @param out  receives bytes
 * @return false if `text` is not a size, or does not fit in 64 bits
 */
TKB_API bool tkb_size_parse(const char *text, uint64_t *out);

/**
 * Read a time: "500ms", "5s", "2m", "12h", "30d".
 *
 * @param unit_ms  the unit of a number without one, in ms; 0: a unit is
 *                 required
 * @param out      receives milliseconds
 * @return false if `text` is not a time, or does not fit in 64 bits
 */
TKB_API bool tkb_time_parse(const char *text, uint64_t unit_ms, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
