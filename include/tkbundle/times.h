/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TIMES_H
#define TKBUNDLE_TIMES_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/times.h
 * How long entries took to compile.
 *
 * A cache does not record this, so a program that sees a compile notes it in
 * the file `.tkbundle/times` of the cache root. A push copies the times into
 * the bundle's record, and a pull notes the times that it finds there. Bundles
 * have no times, so that the same entries give the same bytes. Do not rely on
 * times: anybody who can write to the cache can write them.
 */
struct tkb_times;

/** How long one entry took. */
struct tkb_time {
	const char *tree; /**< of a unit; else NULL */
	const char *name; /**< of a unit: its path in the tree; else the key */
	uint32_t ms;      /**< at least 1 */
};

/**
 * Read the times of the cache at `cache_root`; there may be none. Malformed
 * lines are ignored.
 *
 * @param out  receives times that the caller closes
 * @return 0, TKB_ERR_CORRUPT (not a regular file, or over 16 MiB), TKB_ERR_IO
 *         or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_times_open(const char *cache_root,
                                         struct tkb_times **out,
                                         struct tkb_error *err);

/** Release the times. NULL is allowed. */
TKB_API void tkb_times_close(struct tkb_times *times);

/** Milliseconds; 0 if unknown. `tree` and `name` are as in tkb_time. */
TKB_API uint32_t tkb_times_find(const struct tkb_times *times, const char *tree,
                                const char *name);

/**
 * Note the times of `count` entries. If an entry's time was noted before, that
 * note stays.
 *
 * @param items  not kept
 * @return as tkb_times_open(), or TKB_ERR_TOO_LARGE (too many)
 */
TKB_API TKB_NODISCARD int tkb_times_note(const char *cache_root,
                                         const struct tkb_time *items,
                                         size_t count, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
