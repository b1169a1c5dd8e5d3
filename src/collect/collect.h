/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_COLLECT_H
#define TKB_COLLECT_COLLECT_H

/* Collect by a list of entries and launchers. */

#include <tkbundle/collect.h>

#include "cache/cache.h"
#include "collect/pack.h"

/* What is to be collected. */
struct tkb_collect_selection {
	struct tkb_pick *picks;     /* owned; by key, then device; never NULL */
	size_t pick_count;          /* 0: no cache is read */
	struct tkb_saving *savings; /* owned; launchers, by cache key */
	size_t saving_count;
};

/* For qsort(): by key, then device. */
int tkb_compare_picks(const void *a, const void *b);

void tkb_collect_selection_release(struct tkb_collect_selection *selection);

/* Where the bundle goes; in a dry run both are NULL. */
struct tkb_collect_target {
	const struct tkb_sink *sink;
	const char *path; /* of the file that is written if there is no sink */
};

/*
 * Copy a caller's options (NULL: all defaults), and check the report (may be
 * NULL) that will be filled. The watch stays the caller's.
 */
TKB_NODISCARD int tkb_collect_options_read(
	struct tkb_collect_options *out,
	const struct tkb_collect_options *given,
	const struct tkb_collect_report *report, struct tkb_error *err);

/* The same, for a collect that a caller asked for: it must have a target. */
TKB_NODISCARD int tkb_collect_read(struct tkb_collect_options *out,
                                   const struct tkb_collect_options *given,
                                   const struct tkb_collect_target *to,
                                   const struct tkb_collect_report *report,
                                   struct tkb_error *err);

/* The options with which a collect opens a cache; its watch is by reference. */
struct tkb_cache_options tkb_collect_cache_options(
	const struct tkb_collect_options *options);

/*
 * As tkb_collect(), with options that were read. `selection` may be NULL:
 * everything.
 */
TKB_NODISCARD int tkb_collect_selected(
	const char *cache_root, const struct tkb_collect_options *options,
	const struct tkb_collect_selection *selection,
	const struct tkb_collect_target *to, struct tkb_collect_report *report,
	struct tkb_error *err);

#endif
