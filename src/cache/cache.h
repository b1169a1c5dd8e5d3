/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_CACHE_H
#define TKB_CACHE_CACHE_H

/*
 * What stands behind struct tkb_cache, for those who work on all of it.
 *
 * To open one takes three steps: the folders are listed (or looked up) and
 * loaded; what cannot be packed is left out; equal entries of several devices
 * are folded into one.
 */

#include <tkbundle/cache.h>

#include "cache/scanned_entry.h"
#include "cache/watch.h"

struct tkb_cache {
	struct tkb_roots roots;
	struct tkb_loader *loaders; /* owned; one a thread */
	size_t loader_count;
	struct tkb_scanned_entry *found; /* owned; sorted as in a bundle */
	size_t found_count;
	struct tkb_left_out *left_out; /* owned; texts in `arena` */
	size_t left_out_count;
	size_t left_out_capacity;
	struct tkb_arena arena;
	size_t unfinished_count;
	size_t stray_count;
};

/* An entry that is wanted: its folder, and the device it was made for. */
struct tkb_pick {
	const char *key;
	uint32_t device;
	bool any_device; /* each that has it */
};

/* What a caller inside the library may ask for besides. */
struct tkb_scan {
	const struct tkb_cache_options *options;
	const struct tkb_pick *picks; /* by key, then device; NULL: all */
	size_t pick_count;
	bool keep_apart; /* do not fold equal entries of several devices */
};

/* As tkb_cache_open(), which see. */
TKB_NODISCARD int tkb_cache_scan(const char *path, const struct tkb_scan *scan,
                                 struct tkb_cache **out, struct tkb_error *err);

/* For TKB_AUTO. */
void tkb_cache_close_at(struct tkb_cache **cache);

/* List the folders that are wanted, and load them, on all threads. */
TKB_NODISCARD int tkb_cache_load(struct tkb_cache *cache,
                                 const struct tkb_scan *scan,
                                 struct tkb_watcher *watcher,
                                 struct tkb_error *err);

/* Sort what was found; hash it where need be; fold it, unless kept apart. */
TKB_NODISCARD int tkb_cache_fold(struct tkb_cache *cache,
                                 const struct tkb_scan *scan,
                                 struct tkb_error *err);

/* What is told of an entry that was left out. */
struct tkb_result tkb_left_out_result(const struct tkb_left_out *left_out,
                                      enum tkb_outcome outcome);

/* Note that folder `key` of `root` is to be left out, as `why` says. */
TKB_NODISCARD int tkb_cache_reject(struct tkb_cache *cache, const char *root,
                                   const char *key, const struct tkb_error *why,
                                   struct tkb_error *err);

#endif
