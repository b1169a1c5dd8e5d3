/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_CACHE_H
#define TKB_CACHE_CACHE_H

/*
 * The contents of struct tkb_cache.
 *
 * A cache is opened in three steps: list (or look up) its folders and load
 * them; reject what cannot be packed; fold equal entries of several devices
 * into one.
 */

#include <tkbundle/cache.h>

#include "cache/scanned_entry.h"
#include "tree/unit.h"
#include "cache/watch.h"

struct tkb_cache {
	struct tkb_roots roots;
	struct tkb_named_root *named; /* owned; names and paths of the trees */
	size_t named_count;
	struct tkb_unit_place *units; /* owned; sorted by key */
	size_t unit_count;
	size_t unit_capacity;
	struct tkb_loader *loaders; /* owned; one per thread */
	size_t loader_count;
	struct tkb_scanned_entry *found; /* owned; in a bundle's order */
	size_t found_count;
	struct tkb_left_out *left_out; /* owned; the texts are in `arena` */
	size_t left_out_count;
	size_t left_out_capacity;
	struct tkb_arena arena;
	size_t unfinished_count;
	size_t stray_count;
	size_t unread_count;
};

/* An entry to look up, and the device for which it was compiled. */
struct tkb_pick {
	const char *key;
	uint32_t device;
	bool any_device; /* look for it on every device */
	bool is_unit;
	const struct tkb_scanned_entry
		*found; /* as it was found before; or NULL */
};

/* What callers inside the library can choose. */
struct tkb_scan {
	const struct tkb_cache_options *options;
	const struct tkb_pick *picks; /* by key, then device; NULL: list all */
	size_t pick_count;
	bool keeps_apart; /* do not fold equal entries of several devices */
	bool reads_all;   /* reject entries with a damaged file */
	bool is_followed; /* report progress to the watch */
};

/* As tkb_cache_open(), with more choices. */
TKB_NODISCARD int tkb_cache_scan(const char *path, const struct tkb_scan *scan,
                                 struct tkb_cache **out, struct tkb_error *err);

/* The index of the root that contains `found`. */
size_t tkb_cache_root_of(const struct tkb_cache *cache,
                         const struct tkb_scanned_entry *found);

/* Open the trees' roots and the kernels' roots in them, and list the units. */
TKB_NODISCARD int tkb_cache_list_trees(struct tkb_cache *cache,
                                       const struct tkb_cache_options *options,
                                       struct tkb_watcher *watcher,
                                       struct tkb_error *err);

/* The unit with `key`, or NULL. */
const struct tkb_unit_place *tkb_cache_find_unit(const struct tkb_cache *cache,
                                                 const char *key);

/* A folder that may hold an entry, and the result of loading it. */
struct tkb_candidate {
	const struct tkb_root *root;
	char *key;                         /* in the cache's arena */
	const struct tkb_unit_place *unit; /* NULL if it may hold a kernel */
	bool is_link;
	const uint32_t *devices; /* picked; in the cache's arena, or NULL */
	size_t device_count;
	bool is_unread;
	int rc;
	struct tkb_error err;
	struct tkb_scanned_entry found;
};

struct tkb_candidates {
	struct tkb_cache *cache;
	struct tkb_watcher *watcher; /* by reference */
	uint64_t end_ns;             /* when to stop loading; 0: never */
	struct tkb_candidate *items; /* owned */
	size_t count;
	size_t capacity;
};

/* List the folders, or look up the picks. Returns 0, TKB_MISS or a failure. */
TKB_NODISCARD int tkb_candidates_find(struct tkb_candidates *candidates,
                                      const struct tkb_scan *scan,
                                      struct tkb_error *err);

/* Note `key` as left out: it is wanted, but no finished entry exists. */
TKB_NODISCARD int tkb_cache_reject_missing(struct tkb_cache *cache,
                                           const char *root, const char *key,
                                           struct tkb_error *err);

/* List or look up the folders, and load them on all threads. */
TKB_NODISCARD int tkb_cache_load(struct tkb_cache *cache,
                                 const struct tkb_scan *scan,
                                 struct tkb_watcher *watcher,
                                 struct tkb_error *err);

/* Does tkb_cache_fold() have to hash entries? */
bool tkb_cache_hashes(const struct tkb_cache *cache,
                      const struct tkb_scan *scan);

/* Sort the found entries, hash those that need it, and fold equal ones. */
TKB_NODISCARD int tkb_cache_fold(struct tkb_cache *cache,
                                 const struct tkb_scan *scan,
                                 struct tkb_watcher *watcher,
                                 struct tkb_error *err);

/* The result that reports an entry that was left out. */
struct tkb_result tkb_left_out_result(const struct tkb_left_out *left_out,
                                      enum tkb_outcome outcome);

/* Note folder `key` of `root` as left out, for the reason in `why`. */
TKB_NODISCARD int tkb_cache_reject(struct tkb_cache *cache, const char *root,
                                   const char *key, const struct tkb_error *why,
                                   struct tkb_error *err);

/* The same of an entry that was found; a unit is called by its path. */
TKB_NODISCARD int tkb_cache_reject_found(struct tkb_cache *cache,
                                         const struct tkb_scanned_entry *found,
                                         const struct tkb_error *why,
                                         struct tkb_error *err);

#endif
