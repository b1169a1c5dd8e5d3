/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MANIFEST_TREES_H
#define TKB_FORMAT_MANIFEST_TREES_H

/*
 * The member `trees` of a manifest. In JSON, each tree lists its units; in
 * memory, units follow the other entries in one list.
 */

#include "format/manifest.h"
#include "text/schema.h"

/* A tree as it is in JSON. */
struct tkb_manifest_tree {
	const char *name;
	struct tkb_entry *units;
	size_t unit_count;
};

extern const struct tkb_schema_list tkb_manifest_trees;

/* What a reader of a manifest must support, one bit each. */
enum {
	TKB_MANIFEST_BUILDS = 1, /* units that ninja built */
	TKB_MANIFEST_TREES = 2,
	TKB_MANIFEST_TUNED = 4 /* units tuned for a GPU and a driver */
};

/*
 * Word number `index` of those that "requires" may have, in order; NULL after
 * the last.
 */
const char *tkb_manifest_feature(unsigned index);

/* What a reader of this unit must support. */
unsigned tkb_manifest_features(const struct tkb_entry *unit);
unsigned tkb_manifest_tree_features(const struct tkb_manifest_tree *tree);

/*
 * Complete the units of the trees to entries, and append them to the manifest's
 * entries.
 */
TKB_NODISCARD int tkb_manifest_add_units(struct tkb_manifest *manifest,
                                         const struct tkb_manifest_tree *trees,
                                         size_t tree_count,
                                         struct tkb_error *err);

/* Write parts of a manifest; also for records. */
void tkb_manifest_write_file(const struct tkb_file *file, unsigned mode,
                             const char *before, struct tkb_buf *out);
void tkb_manifest_write_devices(const struct tkb_entry *entry,
                                struct tkb_buf *out);
void tkb_manifest_write_target(const struct tkb_target *target,
                               struct tkb_buf *out);

/* Append the list of the trees whose units are `units`, in order. */
void tkb_manifest_write_trees(const struct tkb_entry *const *units,
                              size_t count, struct tkb_buf *out);

#endif
