/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_COLLECT_H
#define TKB_COLLECT_COLLECT_H

/* Collect by a list of entries and launchers. */

#include <tkbundle/collect.h>

#include "cache/cache.h"
#include "collect/pack.h"

/* What is to be collected. */
struct tkb_pack_request {
	const struct tkb_pick *picks; /* by key, then device; never NULL */
	size_t pick_count;            /* 0: no cache is looked at */
	const struct tkb_saving *launchers; /* by cache key */
	size_t launcher_count;
};

/*
 * Copy a caller's options, NULL for all defaults, and check the report (may be
 * NULL) that is to be filled. The watch is still the caller's.
 */
TKB_NODISCARD int tkb_collect_options_read(
	struct tkb_collect_options *out,
	const struct tkb_collect_options *given,
	const struct tkb_collect_report *report, struct tkb_error *err);

/* The options with which a collect opens a cache; its watch is by reference. */
struct tkb_cache_options tkb_collect_cache_options(
	const struct tkb_collect_options *options);

/*
 * As tkb_collect(), with options that were read. `request` may be NULL: everything. `folder` is where a large
 * bundle waits until its header can be written; NULL is $TMPDIR.
 */
TKB_NODISCARD int tkb_collect_request(const char *cache_root,
                                      const struct tkb_collect_options *options,
                                      const struct tkb_pack_request *request,
                                      const struct tkb_sink *sink,
                                      const char *folder,
                                      struct tkb_collect_report *report,
                                      struct tkb_error *err);

/* As tkb_collect_to_file(). */
TKB_NODISCARD int tkb_collect_request_to_file(
	const char *cache_root, const struct tkb_collect_options *options,
	const struct tkb_pack_request *request, const char *path,
	struct tkb_collect_report *report, struct tkb_error *err);

#endif
