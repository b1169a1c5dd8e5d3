/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_MATCH_STATE_H
#define TKB_COMPILE_MATCH_STATE_H

/* What a search for a match holds: what is bound, and what is left to do. */

#include "rewrite/rule.h"

enum {
	MATCH_MAX_PART = 64 /* lanes */
};

/* What a node stands for. */
struct binding {
	LLVMValueRef
		value;   /* NULL: nothing yet; a parameter's without bitcasts */
	uint32_t part;   /* which part of a longer vector, from 1; 0: all */
	uint32_t lanes;  /* of that part */
	bool is_virtual; /* no instruction that is looked for */
	LLVMValueRef source; /* of a parameter: with its bitcasts */
};

enum match_mode {
	MATCH_STRICT,
	MATCH_LENIENT /* in a replacement, whose parameters are the pattern's */
};

struct match_goal;
struct match_choice;

struct match {
	const struct rule *rule;
	LLVMValueRef root;
	LLVMBasicBlockRef block;
	enum match_mode mode;
	struct binding *bound; /* for each node */
	size_t bound_capacity;
	LLVMValueRef terms[RULE_MAX_TERMS];     /* of the sum at root */
	LLVMValueRef additions[RULE_MAX_TERMS]; /* one less than terms */
	bool is_taken[RULE_MAX_TERMS];          /* by a term of the pattern */
	size_t term_count;
	LLVMValueRef
		summed; /* whose terms these are; NULL: nobody's any more */
	LLVMValueRef
		waiting[RULE_MAX_TERMS]; /* sums that were too long for one */
	size_t waiting_count;

	/* The search. */
	struct match_goal *goals;
	size_t goal_count, goal_capacity;
	size_t first; /* of the goals that are left */
	struct match_choice *choices;
	size_t choice_count, choice_capacity;
	uint32_t *trail; /* what was bound, in that order */
	size_t trail_count, trail_capacity;
};

#endif
