/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MERGE_PLAN_H
#define TKB_FORMAT_MERGE_PLAN_H

/* Which items of which bundles a merge uses, and which frames have them. */

#include <tkbundle/merge.h>

#include "format/reader.h"
#include "format/unit_version.h"

/*
 * Versions of a bundle's items: of items with one destination, the newest is
 * used.
 */
struct tkb_merge_versions {
	const void *self;
	/* By reference. NULL: none is known, and all are older than others. */
	const struct tkb_version *(*find)(const void *self, size_t bundle,
	                                  size_t item);
};

/* An item of one of the bundles. */
struct tkb_merge_item {
	size_t bundle;
	size_t item; /* in that bundle */
	struct tkb_version version;
	struct tkb_entry entry; /* with the devices that it is used for */
	bool counts;            /* no item before it takes its place */
	bool is_changed;        /* its devices differ from the bundle's */
	size_t place;           /* its index in the merged bundle, if used */
};

/* A frame that is copied. */
struct tkb_merge_frame {
	size_t bundle;
	size_t frame; /* in that bundle */
};

struct tkb_merge_plan {
	const struct tkb_bundle *const *bundles; /* by reference */
	size_t bundle_count;
	const struct tkb_merge_versions *versions; /* by reference, or NULL */
	struct tkb_arena arena;
	struct tkb_merge_item *items; /* owned; by bundle, then item */
	size_t item_count;
	size_t *firsts; /* owned; of each bundle, in `items` */
	struct tkb_saved_launcher *launchers; /* owned; by cache key */
	size_t launcher_count;
	const struct tkb_entry **merged; /* owned; entries, then payloads */
	size_t entry_count;
	struct tkb_frame *frames;        /* owned; of the merged bundle */
	struct tkb_merge_frame *sources; /* owned; where each comes from */
	size_t frame_count;
};

void tkb_merge_plan_release(struct tkb_merge_plan *plan);

TKB_NODISCARD int tkb_merge_plan_make(struct tkb_merge_plan *plan,
                                      struct tkb_error *err);

/* As tkb_merge(); of items that have versions, the newest is used. */
TKB_NODISCARD int tkb_merge_newest(const struct tkb_bundle *const *bundles,
                                   size_t count,
                                   const struct tkb_merge_versions *versions,
                                   const struct tkb_merge_options *options,
                                   const struct tkb_sink *sink,
                                   struct tkb_merge_report *report,
                                   struct tkb_error *err);

#endif
