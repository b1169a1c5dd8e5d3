/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite_match.h"

#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

enum {
	MAX_STEPS = 50000
};

struct match_choice {
	struct match_goal goal;
	size_t at;         /* the next alternative */
	size_t first;      /* pending goals when it was pushed */
	size_t goal_count; /* goal count to return to */
	size_t trail_count;
};

void match_release(struct match *match)
{
	free(match->bound);
	free(match->goals);
	free(match->choices);
	free(match->trail);
}

LLVMValueRef match_strip(LLVMValueRef value)
{
	while (LLVMIsABitCastInst(value) != NULL)
		value = LLVMGetOperand(value, 0);
	return value;
}

int match_push_goal(struct match *match, enum match_goal_kind kind,
                    uint32_t node, LLVMValueRef value, struct tkb_error *err)
{
	const struct match_goal goal = { kind, node, value, match->first };
	const int rc =
		tkb_append(&match->goals, &match->goal_count,
	                   &match->goal_capacity, &goal, sizeof(goal), err);

	if (rc == 0)
		match->first = match->goal_count;
	return rc;
}

int match_push_choice(struct match *match, enum match_goal_kind kind,
                      uint32_t node, LLVMValueRef value, struct tkb_error *err)
{
	const struct match_choice choice = {
		.goal = { kind, node, value, MATCH_NO_GOAL },
		.first = match->first,
		.goal_count = match->goal_count,
		.trail_count = match->trail_count,
	};

	return tkb_append(&match->choices, &match->choice_count,
	                  &match->choice_capacity, &choice, sizeof(choice),
	                  err);
}

int match_push_trail(struct match *match, size_t what, struct tkb_error *err)
{
	const uint32_t item = (uint32_t)what;

	return tkb_append(&match->trail, &match->trail_count,
	                  &match->trail_capacity, &item, sizeof(item), err);
}

static void undo(struct match *match, size_t trail_count)
{
	while (match->trail_count > trail_count) {
		const uint32_t what = match->trail[--match->trail_count];

		if (what < match->rule->node_count)
			match->bound[what] = (struct binding){ .value = NULL };
		else
			match->is_taken[what - match->rule->node_count] = false;
	}
}

/* Match term `number` with the next free term of the sum from `at` on. */
static int take_term(struct match *match, size_t number, size_t *at,
                     struct tkb_error *err)
{
	size_t term = *at;
	int rc;

	while (term < match->term_count && match->is_taken[term])
		term++;
	if (term == match->term_count)
		return TKB_MISS;
	*at = term + 1;
	match->is_taken[term] = true;
	rc = match_push_trail(match, match->rule->node_count + term, err);
	if (rc < 0)
		return rc;
	return match_push_goal(match, MATCH_NODE, match->rule->terms[number],
	                       match->terms[term], err);
}

/* Try the next alternative of the last choice; after the last, pop it. */
static int take_choice(struct match *match, struct tkb_error *err)
{
	struct match_choice *choice = &match->choices[match->choice_count - 1];
	const struct match_goal goal = choice->goal;
	const struct rule_node *node;

	undo(match, choice->trail_count);
	match->first = choice->first;
	match->goal_count = choice->goal_count;
	if (goal.kind == MATCH_TERM) {
		const int rc = take_term(match, goal.node, &choice->at, err);

		if (rc == TKB_MISS)
			match->choice_count--;
		return rc;
	}
	node = &match->rule->nodes[goal.node];
	if (goal.kind == MATCH_SWAP) {
		match->choice_count--;
		return match_swapped(match, goal.node, goal.value, err);
	}
	if (choice->at == node->edge_count) {
		match->choice_count--;
		return TKB_MISS;
	}
	return match_push_goal(match, MATCH_NODE,
	                       match_edge(match, node, (uint32_t)choice->at++),
	                       goal.value, err);
}

static int take_goal(struct match *match, struct tkb_error *err)
{
	const struct match_goal goal = match->goals[match->first - 1];
	int rc;

	match->first = goal.next;
	if (goal.kind == MATCH_NODE)
		return match_node(match, goal.node, goal.value, err);
	rc = match_push_choice(match, goal.kind, goal.node, goal.value, err);
	return rc < 0 ? rc : TKB_MISS;
}

/* Run until no goals are pending. */
static int search(struct match *match, struct tkb_error *err)
{
	int rc = 0;

	for (size_t steps = 0; steps < MAX_STEPS; steps++) {
		if (rc == 0 && match->first == MATCH_NO_GOAL)
			return 0;
		if (rc == 0)
			rc = take_goal(match, err);
		else if (match->choice_count > 0)
			rc = take_choice(match, err);
		else
			return TKB_MISS;
		if (rc < 0)
			return rc;
	}
	return TKB_MISS;
}

void match_forget(struct match *match)
{
	match->summed = NULL;
	match->term_count = 0;
	match->waiting_count = 0;
}

/*
 * Find the terms at the root. Terms that are sums themselves, because the sum
 * is too long, are matched later.
 */
static void flatten(struct match *match)
{
	if (match->summed == match->root)
		return;
	match->summed = match->root;
	match->term_count =
		rule_flatten(match->root, match->terms, match->additions);
	if (match->term_count < RULE_MAX_TERMS)
		return;
	for (size_t i = 0; i < match->term_count; i++) {
		if (match->waiting_count < RULE_MAX_TERMS &&
		    rule_is_part_of_sum(match->terms[i]))
			match->waiting[match->waiting_count++] =
				match->terms[i];
	}
}

/* Parts of a sum are matched with the sum, not by themselves. */
static bool is_seen(const struct match *match)
{
	for (size_t i = 0; i < match->waiting_count; i++) {
		if (match->waiting[i] == match->root)
			return false;
	}
	return rule_is_part_of_sum(match->root);
}

static int push_root(struct match *match, struct tkb_error *err)
{
	const struct rule *rule = match->rule;

	if (!rule->is_sum)
		return match_push_goal(match, MATCH_NODE, rule->root,
		                       match->root, err);
	if (is_seen(match))
		return TKB_MISS;
	flatten(match);
	if (match->term_count < rule->term_count)
		return TKB_MISS;
	for (uint32_t i = rule->term_count; i-- > 0;) {
		const int rc =
			match_push_goal(match, MATCH_TERM, i, match->root, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Checks that involve several parameters. */
static bool has_reciprocals(const struct match *match)
{
	const struct rule *rule = match->rule;

	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		const struct rule_filter *filter = &rule->filters[i];
		const uint32_t a = rule->parameters[i];
		const uint32_t b = rule->parameters[filter->reciprocal_of];

		if (filter->is_reciprocal && match->mode == MATCH_STRICT &&
		    !rule_is_reciprocal(match->bound[a].value,
		                        match->bound[b].value))
			return false;
	}
	return true;
}

static int begin_match(struct match *match, const struct rule *rule,
                       LLVMValueRef root, struct tkb_error *err)
{
	if (match->bound_capacity < rule->node_count) {
		free(match->bound);
		match->bound_capacity = 0;
		match->bound = tkb_alloc_array(rule->node_count,
		                               sizeof(*match->bound));
		if (match->bound == NULL)
			return tkb_fail_nomem(err);
		match->bound_capacity = rule->node_count;
	}
	memset(match->bound, 0, rule->node_count * sizeof(*match->bound));
	memset(match->is_taken, 0, sizeof(match->is_taken));
	match->rule = rule;
	match->root = root;
	match->block = LLVMGetInstructionParent(root);
	match->first = MATCH_NO_GOAL;
	match->goal_count = 0;
	match->choice_count = 0;
	match->trail_count = 0;
	return 0;
}

int match_rule(struct match *match, const struct rule *rule, LLVMValueRef root,
               enum match_mode mode, struct tkb_error *err)
{
	const struct rule_node *node = &rule->nodes[rule->root];
	int rc;

	if (LLVMTypeOf(root) != LLVMTypeOf(node->value) ||
	    (node->kind == RULE_INSTRUCTION && !rule->is_sum &&
	     node->opcode != LLVMMul &&
	     LLVMGetInstructionOpcode(root) != node->opcode))
		return TKB_MISS;
	rc = begin_match(match, rule, root, err);
	if (rc < 0)
		return rc;
	match->mode = mode;
	rc = push_root(match, err);
	if (rc == 0)
		rc = search(match, err);
	if (rc != 0)
		return rc;
	return has_reciprocals(match) ? 0 : TKB_MISS;
}
