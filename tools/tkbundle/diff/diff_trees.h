/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_TREES_H
#define TKBUNDLE_DIFF_TREES_H

#include "config/root.h"

/*
 * Choose A or B of a comparison, and the trees that are read with it.
 *
 * A bundle has trees of its own. If one of the two is a cache, --engine and
 * --tree belong to that. If both are, each name of --tree must be given twice:
 * for A, then for B. Then --engine is refused, because it would find the same
 * trees of this machine for both.
 *
 * @param side  0 for A, 1 for B: the operand
 * @param out   released by the caller; borrows from `args`
 * @return as root_choose_all()
 */
TKB_NODISCARD int diff_trees_choose(const struct arguments *args, size_t side,
                                    struct root *out, struct tkb_error *err);

#endif
