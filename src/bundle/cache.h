/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BUNDLE_CACHE_H
#define TKB_BUNDLE_CACHE_H

/* What stands behind struct tkb_cache, for collect. */

#include <tkbundle/cache.h>

#include "bundle/found.h"

struct tkb_cache {
	struct tkb_roots roots;
	struct tkb_loader *loaders; /* owned; one a thread */
	size_t loader_count;
	struct tkb_found *found; /* owned; sorted as in a bundle */
	size_t found_count;
	struct tkb_left_out *left_out; /* owned; texts in `arena` */
	size_t left_out_count;
	size_t left_out_capacity;
	struct tkb_arena arena;
	size_t unfinished_count;
	size_t stray_count;
};

/* Note that `entry` is to be left out, as `err` says. */
TKB_NODISCARD int tkb_cache_leave_out(struct tkb_cache *cache,
                                      const struct tkb_root *root,
                                      const char *key,
                                      const struct tkb_error *why,
                                      struct tkb_error *err);

#endif
