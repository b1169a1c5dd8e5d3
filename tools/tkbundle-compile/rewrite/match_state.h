/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_MATCH_STATE_H
#define TKB_COMPILE_MATCH_STATE_H

/* The state of a search for a match: bindings and pending goals. */

#include "rewrite/rule.h"

enum {
	MATCH_MAX_PART = 64 /* maximum lanes of a part */
};

/* The value that a node is bound to. */
struct binding {
	/* NULL: unbound; of a parameter: without bitcasts */
	LLVMValueRef value;
	/* part of a longer vector, from 1; 0: the whole vector */
	uint32_t part;
	uint32_t lanes;      /* lanes of that part */
	bool is_virtual;     /* not an instruction that was matched */
	LLVMValueRef source; /* of a parameter: with its bitcasts */
};

enum match_mode {
	MATCH_STRICT,
	MATCH_LENIENT /* for a replacement with the pattern's parameters */
};

struct match_goal;
struct match_choice;

struct match {
	const struct rule *rule;
	LLVMValueRef root;
	LLVMBasicBlockRef block;
	enum match_mode mode;
	struct binding *bound; /* one per node */
	size_t bound_capacity;
	LLVMValueRef terms[RULE_MAX_TERMS];     /* terms of the sum at the
	                                           root */
	LLVMValueRef additions[RULE_MAX_TERMS]; /* additions of the sum: one
	                                           less than terms */
	bool is_taken[RULE_MAX_TERMS];          /* taken by a term of the
	                                           pattern */
	size_t term_count;
	/* the root that `terms` belong to; NULL: outdated */
	LLVMValueRef summed;
	/* sums that were too long for one flattening */
	LLVMValueRef waiting[RULE_MAX_TERMS];
	size_t waiting_count;

	/* The search. */
	struct match_goal *goals;
	size_t goal_count, goal_capacity;
	size_t first; /* first of the pending goals */
	struct match_choice *choices;
	size_t choice_count, choice_capacity;
	uint32_t *trail; /* bindings, in order */
	size_t trail_count, trail_capacity;
};

#endif
