/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_COST_H
#define TKB_COMPILE_REWRITE_COST_H

/* What a match makes removable, and whether its replacement pays off. */

#include "rewrite/rewrite_match.h"

/* The matched instructions, except the root. */
struct cost_dying {
	LLVMValueRef items[RULE_MAX_NODES + RULE_MAX_TERMS];
	bool is_dead[RULE_MAX_NODES + RULE_MAX_TERMS]; /* has no other users */
	size_t count;
};

/* True if the node matched an actual instruction. */
bool cost_is_real(const struct match *match, uint32_t node);

void cost_find_dying(struct cost_dying *dying, const struct match *match);

/* Remove unused instructions; their items become NULL. */
void cost_remove_dead(struct cost_dying *dying);

/*
 * Does it pay off? Always if no matched instruction has other users; else if
 * the replacement costs no more than what is removed.
 */
bool cost_is_worth_it(const struct match *match);

#endif
