/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_WHOLE_H
#define TKB_TREE_WHOLE_H

/*
 * Check that an index was written to its end. Engines write it in place. After
 * a power failure it may be cut short, empty, or full of zeros, and some
 * engines then fail to start.
 */

#include "base/base.h"
#include "tree/path_style.h"

/*
 * Do all brackets and quotes of `text`, a JSON or Python value, end? True for
 * other styles. The value itself is not checked.
 */
bool tkb_text_is_whole(struct tkb_bytes text, enum tkb_path_style style);

#endif
