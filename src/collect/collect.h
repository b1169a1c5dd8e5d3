/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_COLLECT_H
#define TKB_COLLECT_COLLECT_H

/* Collect the entries and launchers of a list. */

#include <tkbundle/collect.h>

#include "cache/cache.h"
#include "collect/pack.h"

/* What to collect. */
struct tkb_collect_selection {
	struct tkb_pick *picks;     /* owned; by key, then device; never NULL */
	size_t pick_count;          /* 0: the cache is not read */
	struct tkb_saving *savings; /* owned; launchers, sorted by cache key */
	size_t saving_count;
};

/* Compare by key, then by device, for qsort(). */
int tkb_compare_picks(const void *a, const void *b);

void tkb_collect_selection_release(struct tkb_collect_selection *selection);

/* Where the bundle goes; in a dry run both are NULL. */
struct tkb_collect_target {
	const struct tkb_sink *sink;
	const char *path; /* the file to write if there is no sink */
};

/*
 * Copy a caller's options (NULL: all defaults), and check the report that will
 * be filled (NULL is allowed). The watch still belongs to the caller.
 */
TKB_NODISCARD int tkb_collect_options_read(
	struct tkb_collect_options *out,
	const struct tkb_collect_options *given,
	const struct tkb_collect_report *report, struct tkb_error *err);

/*
 * As tkb_collect_options_read(), for a collect that a caller asked for: it must
 * have a target.
 */
TKB_NODISCARD int tkb_collect_read(struct tkb_collect_options *out,
                                   const struct tkb_collect_options *given,
                                   const struct tkb_collect_target *to,
                                   const struct tkb_collect_report *report,
                                   struct tkb_error *err);

/* The options for opening a cache; they refer to the watch in `options`. */
struct tkb_cache_options tkb_collect_cache_options(
	const struct tkb_collect_options *options);

/*
 * As tkb_collect(), with options that were read before. If `selection` is NULL,
 * everything is collected.
 */
TKB_NODISCARD int tkb_collect_selected(
	const char *cache_root, const struct tkb_collect_options *options,
	const struct tkb_collect_selection *selection,
	const struct tkb_collect_target *to, struct tkb_collect_report *report,
	struct tkb_error *err);

#endif
