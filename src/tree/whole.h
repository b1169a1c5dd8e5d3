/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_WHOLE_H
#define TKB_TREE_WHOLE_H

/*
 * Check that a file was written to its end. Engines write some in place. After
 * a power failure they may be cut short, empty, or full of zeros, and some
 * engines then fail to start.
 */

#include "base/base.h"
#include "tree/path_style.h"

/*
 * Do all brackets and quotes of `text`, a JSON or Python value, end? True for
 * other styles, and for UTF-16. The value itself is not checked.
 */
bool tkb_text_is_whole(struct tkb_bytes text, enum tkb_path_style style);

/*
 * Does a file that begins with `head` end as it should, as far as `last`, its
 * last byte, shows? False for a pickle without its end. True for other files.
 */
bool tkb_pickle_is_whole(struct tkb_bytes head, char last);

#endif
