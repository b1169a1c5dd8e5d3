/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MAKERS_H
#define TKBUNDLE_MAKERS_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/makers.h
 * What made entries: which build of Triton, which PyTorch, which engine, for which GPU;
 * of what tkb_compile_wait() makes, which compilers, with which options.
 *
 * That decides keys, and an entry's own files do not tell all of it. So who watches a
 * compile notes it, in a file of the cache root, `.tkbundle/makers`; a push writes
 * what is noted into the record of the bundle, and a pull notes what it reads there.
 * Bundles hold none: the same entries give the same bytes, whether somebody watched
 * them being made or not. It is for people who ask why a key is another one; who can
 * write a cache can write it.
 */
struct tkb_makers;

enum {
	TKB_MAKER_SIZE = 1024 /**< of a maker's text, with its NUL */
};

/** An entry that was made. */
struct tkb_made {
	const char *tree; /**< of a unit, else NULL */
	const char *name; /**< of a unit its path in the tree, else the key */
};

/**
 * Read what is noted in the cache at `cache_root`; where nothing is, no maker is
 * known. Lines that make no sense are passed over.
 *
 * @param out  receives makers that the caller closes
 * @return 0, TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_makers_open(const char *cache_root,
                                          struct tkb_makers **out,
                                          struct tkb_error *err);

/** Release them. NULL is allowed. */
TKB_API void tkb_makers_close(struct tkb_makers *makers);

/**
 * What made an entry, "libtriton=3f2a90c1; triton=3.6.0"; NULL where nobody knows.
 * Borrowed from `makers`, which may be NULL. `tree` and `name` are as in tkb_made.
 */
TKB_API const char *tkb_makers_find(const struct tkb_makers *makers,
                                    const char *tree, const char *name);

/**
 * Note that `maker` made `count` entries; of one that is noted, the first maker
 * stays.
 *
 * @param maker  pairs of name and value, sorted, with "; " between them: less than
 *               TKB_MAKER_SIZE bytes of UTF-8 that a terminal only shows
 * @param items  not kept
 * @return 0, TKB_ERR_INVALID (`maker` is no such text), TKB_ERR_IO,
 *         TKB_ERR_TOO_LARGE (there are too many) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_makers_note(const char *cache_root,
                                          const char *maker,
                                          const struct tkb_made *items,
                                          size_t count, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
