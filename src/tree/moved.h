/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_MOVED_H
#define TKB_TREE_MOVED_H

/*
 * Scrub a text of a tree that may have lain elsewhere when the text was written:
 * one that somebody copied, or unpacked.
 */

#include "tree/paths.h"

/* Where a text belongs. */
struct tkb_text_place {
	const char *tree;   /* the name of a root */
	const char *folder; /* of the unit, below that root */
};

/*
 * As tkb_paths_scrub(). Where the text has a path into `at`'s folder, what stands
 * before that is the root that the tree had then: it counts as the tree's, and
 * `*is_moved` is true if it has another one today.
 */
TKB_NODISCARD int tkb_moved_scrub(struct tkb_bytes text,
                                  enum tkb_path_style style,
                                  const struct tkb_text_place *at,
                                  const struct tkb_named_root *roots,
                                  size_t root_count, struct tkb_buf *out,
                                  uint32_t *sentinels_out, bool *is_moved,
                                  struct tkb_error *err);

/*
 * Has a scrubbed text a path into `at`'s folder that is not a sentinel's? Then it
 * names several roots, or one in a spelling that nobody knows.
 */
bool tkb_moved_is_mixed(struct tkb_bytes text, const struct tkb_text_place *at);

#endif
