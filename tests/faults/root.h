/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULTS_ROOT_H
#define TKB_TESTS_FAULTS_ROOT_H

/* The cache root "root", before a call that may fail and after one that does
 * not; and whether it is one of both, entry by entry. */

#include "loop.h"
#include "tree.h"

struct fault_root {
	struct tree before; /* empty: there is no root */
	struct tree after;
	const char *const *places; /* of entries, below it; ends with NULL */
};

void fault_root_prepare(const struct fault_root *root);
void fault_root_release(struct fault_root *root);

/* What is wrong with it now? NULL: nothing is. */
const char *fault_root_look(const struct fault_root *root,
                            enum fault_moment moment);

#endif
