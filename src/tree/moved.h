/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_MOVED_H
#define TKB_TREE_MOVED_H

/*
 * Scrub a text of a tree that may have been copied or unpacked elsewhere since
 * the text was written.
 */

#include "tree/paths.h"

/* Where a text belongs. */
struct tkb_text_place {
	const char *tree;   /* the name of a root */
	const char *folder; /* of the unit, below that root */
};

/*
 * As tkb_paths_scrub(). If the text has a path into `at`'s folder, the part
 * before that folder is where the tree's root was then: it is treated as the
 * root, and `*is_moved` tells whether it differs from the present one.
 */
TKB_NODISCARD int tkb_moved_scrub(struct tkb_bytes text,
                                  enum tkb_path_style style,
                                  const struct tkb_text_place *at,
                                  const struct tkb_named_root *roots,
                                  size_t root_count, struct tkb_buf *out,
                                  uint32_t *sentinels_out, bool *is_moved,
                                  struct tkb_error *err);

/*
 * Has a scrubbed text a path into `at`'s folder without a sentinel? Then it
 * names several roots, or one in an unknown spelling.
 */
bool tkb_moved_is_mixed(struct tkb_bytes text, const struct tkb_text_place *at);

#endif
