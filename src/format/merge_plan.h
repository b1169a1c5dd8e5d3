/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MERGE_PLAN_H
#define TKB_FORMAT_MERGE_PLAN_H

/* Which items of which bundles a merge uses, and which frames hold them. */

#include <tkbundle/merge.h>

#include "format/reader.h"
#include "format/unit_version.h"

/*
 * The versions of a bundle's items: the newest item with the same destination
 * is used.
 */
struct tkb_merge_versions {
	const void *self;
	/* By reference. NULL: not known, and older than all known versions. */
	const struct tkb_version *(*find)(const void *self, size_t bundle,
	                                  size_t item);
};

/* An item of one of the bundles. */
struct tkb_merge_item {
	size_t bundle;
	size_t item; /* its index in that bundle */
	struct tkb_version version;
	struct tkb_entry entry; /* with the devices for which it is used */
	bool counts;            /* the merged bundle has it */
	bool is_changed;        /* its devices differ from the bundle's */
	bool is_nested;         /* not used, for an earlier bundle's unit */
	size_t place;           /* its index in the merged bundle, if used */
};

/* A frame of a bundle that is copied. */
struct tkb_merge_frame {
	size_t bundle;
	size_t frame; /* its index in that bundle */
};

struct tkb_merge_plan {
	const struct tkb_bundle *const *bundles; /* by reference */
	size_t bundle_count;
	const struct tkb_merge_versions *versions; /* by reference, or NULL */
	struct tkb_arena arena;
	struct tkb_merge_item *items; /* owned; by bundle, then item */
	size_t item_count;
	size_t *firsts; /* owned; each bundle's first index in `items` */
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

/*
 * Of units that are inside one another, use only those of the earliest bundle
 * that has one.
 */
TKB_NODISCARD int tkb_merge_drop_nested(struct tkb_merge_plan *plan,
                                        struct tkb_error *err);

/* As tkb_merge(), but uses the newest version of items that have versions. */
TKB_NODISCARD int tkb_merge_newest(const struct tkb_bundle *const *bundles,
                                   size_t count,
                                   const struct tkb_merge_versions *versions,
                                   const struct tkb_merge_options *options,
                                   const struct tkb_sink *sink,
                                   struct tkb_merge_report *report,
                                   struct tkb_error *err);

#endif
