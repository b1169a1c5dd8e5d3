/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_WHOLE_H
#define TKB_TREE_WHOLE_H

/*
 * Was an index written to its end? Engines write it in place, and some fail to start
 * if it is cut short, or empty or full of zeros as after a power failure.
 */

#include "base/base.h"
#include "tree/path_style.h"

/*
 * Do all brackets and quotes of `text`, a value of JSON or of Python, end? True for
 * other styles. The value itself is not checked.
 */
bool tkb_text_is_whole(struct tkb_bytes text, enum tkb_path_style style);

#endif
