/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_MATCH_H
#define TKB_COMPILE_REWRITE_MATCH_H

/*
 * Does a rule match at an instruction, and what is there? The search tries each
 * order of operands, way and term, and takes the first that fits; it gives up
 * after so many steps.
 *
 *     TKB_AUTO(match_release) struct match match = { 0 };
 *
 *     rc = match_rule(&match, rule, root, MATCH_STRICT, err);
 *     if (rc == 0) ...
 */

#include "rule.h"

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

/*
 * Match `rule` at `root`. The match may be used again for another.
 *
 * @return 0, TKB_MISS, or TKB_ERR_NOMEM
 */
TKB_NODISCARD int match_rule(struct match *match, const struct rule *rule,
                             LLVMValueRef root, enum match_mode mode,
                             struct tkb_error *err);

/*
 * Forget what was found of sums: instructions have changed, or it is another
 * block.
 */
void match_forget(struct match *match);

void match_release(struct match *match);

/* `value` without the bitcasts that made it. */
LLVMValueRef match_strip(LLVMValueRef value);

#endif
