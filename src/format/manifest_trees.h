/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_MANIFEST_TREES_H
#define TKB_FORMAT_MANIFEST_TREES_H

/*
 * The member `trees` of a manifest. In JSON, a tree lists its units; in memory,
 * units are entries behind the others.
 */

#include "format/manifest.h"
#include "text/schema.h"

/* A tree, as it stands in JSON. */
struct tkb_manifest_tree {
	const char *name;
	struct tkb_entry *units;
	size_t unit_count;
};

extern const struct tkb_schema_list tkb_manifest_trees;

/* What a reader must support, one bit each. */
enum {
	TKB_MANIFEST_BUILDS = 1, /* what ninja built */
	TKB_MANIFEST_TREES = 2,
	TKB_MANIFEST_TUNED = 4 /* for a GPU and a driver */
};

/*
 * Word `index` of those that "requires" may have, in order; NULL behind the
 * last.
 */
const char *tkb_manifest_feature(unsigned index);

/* What a reader of this unit must support. */
unsigned tkb_manifest_features(const struct tkb_entry *unit);
unsigned tkb_manifest_tree_features(const struct tkb_manifest_tree *tree);

/* Make the trees' units whole entries, and put them behind the manifest's. */
TKB_NODISCARD int tkb_manifest_add_units(struct tkb_manifest *manifest,
                                         const struct tkb_manifest_tree *trees,
                                         size_t tree_count,
                                         struct tkb_error *err);

/* Parts of a manifest, for that and for records. */
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
