/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_TREES_H
#define TKBUNDLE_DIFF_TREES_H

#include "config/root.h"

/*
 * What A or B of a comparison is, and which trees are read with it.
 *
 * A bundle has its own. Where one of the two is a cache, --engine and --tree are
 * its. Where both are, each name of --tree is given twice: for A, then for B; and
 * --engine is refused, as it finds the trees of this machine, which are one's.
 *
 * @param side  0 for A, 1 for B: the operand
 * @param out   released by the caller; lends from `args`
 * @return as root_choose_all()
 */
TKB_NODISCARD int diff_trees_choose(const struct arguments *args, size_t side,
                                    struct root *out, struct tkb_error *err);

#endif
