/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_COST_H
#define TKB_COMPILE_REWRITE_COST_H

/* What goes away with a match, and whether its replacement is worth it. */

#include "rewrite/rewrite_match.h"

/* The instructions that were matched, less the root. */
struct cost_dying {
	LLVMValueRef items[RULE_MAX_NODES + RULE_MAX_TERMS];
	bool is_dead[RULE_MAX_NODES + RULE_MAX_TERMS]; /* nobody else has it */
	size_t count;
};

/* The one block of the replacement. */
LLVMBasicBlockRef cost_block(const struct match *match);

/* Does a node stand for an instruction that is there? */
bool cost_is_real(const struct match *match, uint32_t node);

void cost_find_dying(struct cost_dying *dying, const struct match *match);

/* Remove what has no use; its items become NULL. */
void cost_remove_dead(struct cost_dying *dying);

/*
 * Is it worth it? Always, if nothing that was matched is needed by others; else
 * where the replacement costs no more than what goes away.
 */
bool cost_is_worth_it(const struct match *match);

#endif
