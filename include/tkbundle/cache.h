/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CACHE_H
#define TKBUNDLE_CACHE_H

#include <tkbundle/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/cache.h
 * Look into a compiler's cache without changing it.
 *
 * A cache is a Triton cache root (a folder of keys), or an Inductor cache
 * folder, which holds one root for each device: `triton/<device>/`.
 *
 *     struct tkb_cache *cache;
 *
 *     rc = tkb_cache_open("/root/.triton/cache", NULL, &cache, &err);
 *     for (size_t i = 0; i < tkb_cache_entry_count(cache); i++)
 *             puts(tkb_cache_entry(cache, i)->key);
 *     tkb_cache_close(cache);
 *
 * Opening a cache reads the group file and the metadata of each entry, and
 * checks that the other files exist. Entries that cannot be used are listed as
 * left out. Sizes are those of the files with sentinels, as in a bundle. Unless
 * digests are asked for, only files that were read have one; others have zeros.
 *
 * Threads: one cache belongs to one thread at a time.
 */
struct tkb_cache;

/** Choices for tkb_cache_open(). Zero means the default. */
struct tkb_cache_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *const
		*keys;    /**< only these, or unique prefixes; not kept */
	size_t key_count; /**< 0: all */
	bool has_device;  /**< only `device`; in a Triton root, its number */
	uint32_t device;
	bool is_kernels_only;
	bool has_digests; /**< read, check and hash every file, as collect
	                       does: the listed entries can then be packed */
	bool is_lean;     /**< see TKB_PROFILE_LEAN in collect.h */
	bool is_stripped; /**< see struct tkb_collect_options */
	uint32_t threads; /**< 0: the cores of the affinity mask */
	/** Its progress counts folders, and entries if files are hashed;
	    on_result() is not called. May be NULL. */
	const struct tkb_watch *watch;
	uint32_t deadline_ms;         /**< of the whole call; 0: none */
	const struct tkb_tree *trees; /**< read as well; not kept */
	size_t tree_count;
	uint32_t settle_ms; /**< see struct tkb_collect_options */
	/**
	 * For a caller that needs a partial answer soon. When this time has
	 * passed since the folders were listed, no more folders are read, and
	 * the rest is only counted. In that case, equal entries of several
	 * devices are not combined. 0: read all.
	 */
	uint32_t patience_ms;
};

/** An entry that cannot be packed, and why. */
struct tkb_left_out {
	const char *root;
	const char *key; /**< of a unit: its path */
	enum tkb_reason reason;
	const char *message;
};

/**
 * Read the cache at `path`.
 *
 * @param path     not kept
 * @param options  not kept; NULL means all defaults
 * @param out      receives a cache that the caller closes
 * @return 0, TKB_MISS (no such folder; no such device, or no finished entry
 *         with a key that was asked for: the watch receives which),
 *         TKB_ERR_INVALID (a prefix of several keys; not a folder), TKB_ERR_IO,
 *         TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_cache_open(
	const char *path, const struct tkb_cache_options *options,
	struct tkb_cache **out, struct tkb_error *err);

/** Release a cache and all that it lent. Never fails; NULL is allowed. */
TKB_API void tkb_cache_close(struct tkb_cache *cache);

/** Is it an Inductor cache folder? */
TKB_API bool tkb_cache_is_inductor(const struct tkb_cache *cache);

/** The number of entries. They are sorted as in a bundle. */
TKB_API size_t tkb_cache_entry_count(const struct tkb_cache *cache);

/** Entry `index`, which must be below the count. Borrowed. */
TKB_API const struct tkb_entry *tkb_cache_entry(const struct tkb_cache *cache,
                                                size_t index);

/** Does the group file of entry `index` name a path other than this one? */
TKB_API bool tkb_cache_is_moved(const struct tkb_cache *cache, size_t index);

/** The number of entries that were left out. */
TKB_API size_t tkb_cache_left_out_count(const struct tkb_cache *cache);

/** Left-out entry `index`, and why it was left out. Borrowed. */
TKB_API const struct tkb_left_out *tkb_cache_left_out(
	const struct tkb_cache *cache, size_t index);

/**
 * The number of folders in which a compile was stopped or is running. They are
 * not an error.
 */
TKB_API size_t tkb_cache_unfinished_count(const struct tkb_cache *cache);

/** The number of files and folders that belong to no entry: all are ignored. */
TKB_API size_t tkb_cache_stray_count(const struct tkb_cache *cache);

/** The number of folders not read because `patience_ms` had passed. */
TKB_API size_t tkb_cache_unread_count(const struct tkb_cache *cache);

/**
 * Find the entry whose key is `prefix` or begins with it.
 *
 * @return 0, TKB_MISS, or TKB_ERR_INVALID (several keys begin with it)
 */
TKB_API TKB_NODISCARD int tkb_cache_find(const struct tkb_cache *cache,
                                         const char *prefix, size_t *index_out,
                                         struct tkb_error *err);

/**
 * Send file `file` of entry `index` to `sink`, byte for byte as in the cache.
 *
 * @return 0, TKB_ERR_CORRUPT (the file is gone, unsafe or too large by now),
 *         TKB_ERR_IO, TKB_ERR_NOMEM, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_cache_read(const struct tkb_cache *cache,
                                         size_t index, size_t file,
                                         const struct tkb_sink *sink,
                                         struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
