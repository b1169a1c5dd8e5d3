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
 * Nothing in a cache tells that, so who watches a compile notes it, in a file of
 * the cache root, `.tkbundle/times`. A push writes what is noted into the record of
 * the bundle, and a pull notes what it reads there. Bundles hold no times: the same
 * entries give the same bytes. The figures are for people; who can write a
 * cache can write them.
 */
struct tkb_times;

/** How long one entry took. */
struct tkb_time {
	const char *tree; /**< of a unit, else NULL */
	const char *name; /**< of a unit its path in the tree, else the key */
	uint32_t ms;      /**< at least 1 */
};

/**
 * Read what is noted in the cache at `cache_root`; where nothing is, there are no
 * times. Lines that make no sense are passed over.
 *
 * @param out  receives times that the caller closes
 * @return 0, TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_times_open(const char *cache_root,
                                         struct tkb_times **out,
                                         struct tkb_error *err);

/** Release them. NULL is allowed. */
TKB_API void tkb_times_close(struct tkb_times *times);

/** Milliseconds, 0 where nobody knows. `tree` and `name` are as in tkb_time. */
TKB_API uint32_t tkb_times_find(const struct tkb_times *times, const char *tree,
                                const char *name);

/**
 * Note the times of `count` entries; of one that is noted, the first stays.
 *
 * @param items  not kept
 * @return 0, TKB_ERR_IO, TKB_ERR_TOO_LARGE (there are too many) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_times_note(const char *cache_root,
                                         const struct tkb_time *items,
                                         size_t count, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
