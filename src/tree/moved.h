/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_MOVED_H
#define TKB_TREE_MOVED_H

/*
 * Scrub a text of a tree that may have been copied or moved after the text was
 * written.
 */

#include "tree/paths.h"

/* The unit that a text belongs to. */
struct tkb_text_place {
	const char *tree;   /* the name of the root */
	const char *folder; /* of the unit, relative to that root */
};

/*
 * As tkb_paths_scrub(). If the text has a path into `at`'s folder, the part
 * before that folder is where the root was when the text was written. It is
 * replaced as the root would be, and `*is_moved` tells whether it differs from
 * the present root.
 */
TKB_NODISCARD int tkb_moved_scrub(struct tkb_bytes text,
                                  enum tkb_path_style style,
                                  const struct tkb_text_place *at,
                                  const struct tkb_named_root *roots,
                                  size_t root_count, struct tkb_buf *out,
                                  uint32_t *sentinels_out, bool *is_moved,
                                  struct tkb_error *err);

/*
 * Does a scrubbed text still have a path into `at`'s folder without a sentinel?
 * Then it names several roots, or spells one in an unknown way.
 */
bool tkb_moved_is_mixed(struct tkb_bytes text, const struct tkb_text_place *at);

#endif
