/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite_cost.h"

/* The number of terms, if the rule is a sum. */
static size_t term_count(const struct match *match)
{
	return match->rule->is_sum ? match->term_count : 0;
}

bool cost_is_real(const struct match *match, uint32_t node)
{
	return match->rule->nodes[node].kind == RULE_INSTRUCTION &&
	       match->bound[node].value != NULL &&
	       !match->bound[node].is_virtual;
}

/* Instructions that only move bits are free. */
static bool moves_only(LLVMOpcode opcode)
{
	return opcode == LLVMBitCast || opcode == LLVMFreeze ||
	       opcode == LLVMExtractElement || opcode == LLVMInsertElement ||
	       opcode == LLVMShuffleVector || opcode == LLVMRet;
}

static size_t cost_of(LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	const size_t result = llvm_lane_count(LLVMTypeOf(instruction));
	size_t operand;

	if (moves_only(opcode) || opcode == LLVMLoad)
		return 0;
	operand = llvm_lane_count(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	return operand > result ? operand : result;
}

static void add_dying(struct cost_dying *dying, const struct match *match,
                      LLVMValueRef value)
{
	if (value == match->root)
		return;
	for (size_t i = 0; i < dying->count; i++) {
		if (dying->items[i] == value)
			return;
	}
	dying->is_dead[dying->count] = false;
	dying->items[dying->count++] = value;
}

/* Are all users of the value removed? */
static bool is_removable(const struct cost_dying *dying,
                         const struct match *match, LLVMValueRef value)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL;
	     use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		bool is_going = user == match->root;

		for (size_t i = 0; i < dying->count && !is_going; i++)
			is_going = dying->items[i] == user && dying->is_dead[i];
		if (!is_going)
			return false;
	}
	return true;
}

void cost_find_dying(struct cost_dying *dying, const struct match *match)
{
	bool has_changed = true;

	dying->count = 0;
	for (uint32_t i = 0; i < match->rule->node_count; i++) {
		if (cost_is_real(match, i))
			add_dying(dying, match, match->bound[i].value);
	}
	for (size_t i = 0; i + 1 < term_count(match); i++)
		add_dying(dying, match, match->additions[i]);
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < dying->count; i++) {
			if (dying->is_dead[i] ||
			    !is_removable(dying, match, dying->items[i]))
				continue;
			dying->is_dead[i] = true;
			has_changed = true;
		}
	}
}

static size_t cost_of_replacement(const struct match *match)
{
	size_t taken = 0;
	size_t cost = 0;

	for (LLVMValueRef at = rule_first(match->rule->replacement); at != NULL;
	     at = LLVMGetNextInstruction(at))
		cost += cost_of(at);
	/* The remaining terms of a sum are added up again. */
	for (size_t i = 0; i < term_count(match); i++)
		taken += match->is_taken[i] ? 1 : 0;
	if (term_count(match) > taken)
		cost += term_count(match) - taken - 1;
	return cost;
}

bool cost_is_worth_it(const struct match *match)
{
	struct cost_dying dying = { .count = 0 };
	bool is_needed = false;
	size_t saved = cost_of(match->root);

	cost_find_dying(&dying, match);
	for (size_t i = 0; i < dying.count; i++) {
		if (dying.is_dead[i])
			saved += cost_of(dying.items[i]);
		else if (cost_of(dying.items[i]) > 0)
			is_needed = true;
	}
	return !is_needed || cost_of_replacement(match) <= saved;
}

void cost_remove_dead(struct cost_dying *dying)
{
	bool has_changed = true;

	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < dying->count; i++) {
			if (dying->items[i] == NULL ||
			    LLVMGetFirstUse(dying->items[i]) != NULL)
				continue;
			LLVMInstructionEraseFromParent(dying->items[i]);
			dying->items[i] = NULL;
			has_changed = true;
		}
	}
}
