/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MAKERS_H
#define TKBUNDLE_MAKERS_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/makers.h
 * What made entries: which build of Triton, which PyTorch, which engine, for
 * which GPU; for tkb_compile_wait(), which compilers and options.
 *
 * Keys depend on this, and an entry's own files do not show all of it. So a
 * program that sees a compile notes its maker in the file `.tkbundle/makers` of
 * the cache root. A push copies the notes into the bundle's record, and a pull
 * notes the makers that it finds there. Bundles have no makers, so that the
 * same entries give the same bytes. Makers help people to find out why a key
 * differs. Do not rely on them: anybody who can write to the cache can write
 * them.
 */
struct tkb_makers;

enum {
	TKB_MAKER_SIZE = 1024 /**< of a maker's text, with its zero */
};

/** An entry that was made. */
struct tkb_made {
	const char *tree; /**< of a unit; else NULL */
	const char *name; /**< of a unit: its path in the tree; else the key */
};

/**
 * Read the makers that are noted in the cache at `cache_root`; there may be
 * none. Malformed lines are ignored.
 *
 * @param out  receives makers that the caller closes
 * @return 0, TKB_ERR_CORRUPT (not a regular file, or over 16 MiB), TKB_ERR_IO
 *         or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_makers_open(const char *cache_root,
                                          struct tkb_makers **out,
                                          struct tkb_error *err);

/** Release the makers. NULL is allowed. */
TKB_API void tkb_makers_close(struct tkb_makers *makers);

/**
 * What made an entry, such as "libtriton=3f2a90c1; triton=3.6.0"; NULL if
 * unknown. Borrowed from `makers`, which may be NULL. `tree` and `name` are as
 * in tkb_made.
 */
TKB_API const char *tkb_makers_find(const struct tkb_makers *makers,
                                    const char *tree, const char *name);

/**
 * Note that `maker` made `count` entries. If an entry's maker was noted before,
 * that note stays.
 *
 * @param maker  `name=value` pairs, sorted, joined by "; ": less than
 *               TKB_MAKER_SIZE bytes of UTF-8 without control characters
 * @param items  not kept
 * @return as tkb_makers_open(), TKB_ERR_INVALID (a malformed `maker`) or
 *         TKB_ERR_TOO_LARGE (too many)
 */
TKB_API TKB_NODISCARD int tkb_makers_note(const char *cache_root,
                                          const char *maker,
                                          const struct tkb_made *items,
                                          size_t count, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
