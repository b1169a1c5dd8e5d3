/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite_build.h"

#include <string.h>

#include "rewrite/rewrite_cost.h"

/* A value of the replacement, and its copy. */
struct copy {
	LLVMValueRef from;
	LLVMValueRef to;
};

struct build {
	const struct match *match;
	LLVMModuleRef module;
	LLVMBuilderRef builder;
	LLVMFastMathFlags math; /* flags that all matched instructions have */
	struct copy *copies;
	size_t copy_count;
	LLVMValueRef parameters[RULE_MAX_PARAMETERS]; /* NULL: not built yet */
	bool has_uses[RULE_MAX_PARAMETERS];           /* it has several uses */
};

static LLVMTypeRef parameter_type(const struct match *match, uint32_t index)
{
	return LLVMTypeOf(LLVMGetParam(match->rule->replacement, index));
}

/* Build the sum of the terms that the pattern does not name. */
static LLVMValueRef build_rest(const struct build *build)
{
	const struct match *match = build->match;
	LLVMValueRef sum = NULL;

	for (size_t i = 0; i < match->term_count; i++) {
		if (match->is_taken[i])
			continue;
		sum = sum == NULL ? match->terms[i]
		                  : LLVMBuildAdd(build->builder, sum,
		                                 match->terms[i], "");
	}
	return sum != NULL ? sum
	                   : LLVMConstNull(
				     parameter_type(match, match->rule->rest));
}

/* Extract lanes of a longer vector. */
static LLVMValueRef build_part(const struct build *build,
                               const struct binding *bound)
{
	LLVMTypeRef type = LLVMTypeOf(bound->source);
	LLVMTypeRef index = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
	LLVMValueRef mask[MATCH_MAX_PART];

	for (uint32_t i = 0; i < bound->lanes; i++)
		mask[i] = LLVMConstInt(
			index, (bound->part - 1) * bound->lanes + i, false);
	return LLVMBuildShuffleVector(build->builder, bound->source,
	                              LLVMGetPoison(type),
	                              LLVMConstVector(mask, bound->lanes), "");
}

/* Freeze before the bitcast; otherwise one poison lane would spread to all. */
static LLVMValueRef build_bits(const struct build *build,
                               const struct binding *bound, LLVMTypeRef type)
{
	LLVMValueRef value =
		bound->part == 0 ? bound->value : build_part(build, bound);

	if (!rule_is_number(value))
		value = LLVMBuildFreeze(build->builder, value, "");
	return LLVMBuildBitCast(build->builder, value, type, "");
}

/* Was the parameter matched by its bits, without the pattern's bitcast? */
static bool has_bits(const struct match *match, uint32_t parameter)
{
	const struct rule *rule = match->rule;

	for (uint32_t i = 0; i < rule->node_count; i++) {
		if (match->bound[i].value != NULL &&
		    match->bound[i].is_virtual &&
		    rule->nodes[i].kind == RULE_INSTRUCTION &&
		    rule->nodes[i].opcode == LLVMBitCast &&
		    rule->edges[rule->nodes[i].edges] == parameter)
			return true;
	}
	return false;
}

static LLVMValueRef build_parameter(const struct build *build, uint32_t index)
{
	const struct match *match = build->match;
	const struct rule *rule = match->rule;
	const struct binding *bound = &match->bound[rule->parameters[index]];
	LLVMTypeRef type = parameter_type(match, index);
	LLVMValueRef value;

	if (rule->is_sum && index == rule->rest)
		value = build_rest(build);
	else if (bound->part == 0 && LLVMTypeOf(bound->value) == type)
		value = bound->value;
	else if (bound->part == 0 && LLVMTypeOf(bound->source) == type &&
	         !has_bits(match, rule->parameters[index]))
		value = bound->source;
	else
		return build_bits(build, bound, type);
	/* Freeze: each use of an undefined value may see another value. */
	if (build->has_uses[index] && !rule_is_number(value))
		value = LLVMBuildFreeze(build->builder, value, "");
	return value;
}

/* Are two parameters bound to the same value? */
static bool is_twin(const struct match *match, uint32_t a, uint32_t b)
{
	const struct rule *rule = match->rule;
	const struct binding *first = &match->bound[rule->parameters[a]];
	const struct binding *second = &match->bound[rule->parameters[b]];

	return a == b ||
	       (first->value != NULL && first->value == second->value &&
	        first->part == second->part);
}

/*
 * Find a parameter's copy. Parameters bound to the same value share one, which
 * is frozen only once.
 */
static LLVMValueRef find_parameter(struct build *build, LLVMValueRef parameter)
{
	const struct rule *rule = build->match->rule;
	uint32_t index = 0;

	while (LLVMGetParam(rule->replacement, index) != parameter)
		index++;
	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		if (build->parameters[i] != NULL &&
		    is_twin(build->match, index, i) &&
		    parameter_type(build->match, index) ==
		            parameter_type(build->match, i))
			return build->parameters[i];
	}
	build->parameters[index] = build_parameter(build, index);
	return build->parameters[index];
}

/* The copy of a value of the replacement. */
static LLVMValueRef find_copy(struct build *build, LLVMValueRef value)
{
	if (LLVMIsAArgument(value) != NULL)
		return find_parameter(build, value);
	for (size_t i = 0; i < build->copy_count; i++) {
		if (build->copies[i].from == value)
			return build->copies[i].to;
	}
	return value; /* a constant */
}

/* The pattern's load that corresponds to a load of the replacement. */
static LLVMValueRef find_load(const struct build *build, LLVMValueRef load)
{
	const struct match *match = build->match;
	const struct rule *rule = match->rule;

	for (uint32_t i = 0; i < rule->node_count; i++) {
		const struct rule_node *node = &rule->nodes[i];
		const struct rule_node *pointer;

		if (node->kind != RULE_INSTRUCTION ||
		    node->opcode != LLVMLoad || match->bound[i].value == NULL ||
		    LLVMTypeOf(node->value) != LLVMTypeOf(load))
			continue;
		pointer = &rule->nodes[rule->edges[node->edges]];
		if (pointer->kind == RULE_PARAMETER &&
		    LLVMGetParam(rule->replacement, pointer->parameter) ==
		            LLVMGetOperand(load, 0))
			return match->bound[i].value;
	}
	return NULL; /* rule_check() made sure that there is one */
}

static void copy_attributes(LLVMValueRef from, LLVMValueRef to)
{
	static const char *const names[] = { "memory", "nounwind",
		                             "willreturn" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		LLVMAttributeRef attribute =
			llvm_attribute(from, llvm_function_index, names[i]);

		if (attribute != NULL)
			LLVMAddAttributeAtIndex(to, llvm_function_index,
			                        attribute);
	}
}

/* Find the same function in the module that is rewritten. */
static int find_callee(const struct build *build, LLVMValueRef callee,
                       LLVMValueRef *out, struct tkb_error *err)
{
	const char *name = llvm_name(callee);
	LLVMTypeRef type = LLVMGlobalGetValueType(callee);
	LLVMValueRef found = LLVMGetNamedFunction(build->module, name);

	if (found == NULL) {
		found = LLVMAddFunction(build->module, name, type);
		if (LLVMGetIntrinsicID(found) == 0)
			copy_attributes(callee, found);
	}
	if (LLVMGlobalGetValueType(found) != type ||
	    LLVMGetFunctionCallConv(found) != LLVMGetFunctionCallConv(callee))
		return rule_fail(build->match->rule, err,
		                 "the module's '%s' has another type", name);
	*out = found;
	return 0;
}

/* Fold an operation on constants; NULL if it is not one. */
static LLVMValueRef fold(struct build *build, LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	const int count = LLVMGetNumOperands(instruction);
	LLVMValueRef operands[2] = { NULL, NULL };

	if (count > 2)
		return NULL;
	for (int i = 0; i < count; i++) {
		operands[i] = find_copy(
			build, LLVMGetOperand(instruction, (unsigned)i));
		if (!LLVMIsConstant(operands[i]))
			return NULL;
	}
	if (opcode == LLVMFNeg)
		return LLVMBuildFNeg(build->builder, operands[0], "");
	if (opcode == LLVMExtractElement)
		return LLVMBuildExtractElement(build->builder, operands[0],
		                               operands[1], "");
	if (opcode >= LLVMAdd && opcode <= LLVMXor)
		return LLVMBuildBinOp(build->builder, opcode, operands[0],
		                      operands[1], "");
	if ((opcode >= LLVMTrunc && opcode <= LLVMBitCast) ||
	    opcode == LLVMAddrSpaceCast)
		return LLVMBuildCast(build->builder, opcode, operands[0],
		                     LLVMTypeOf(instruction), "");
	return NULL;
}

static int copy_instruction(struct build *build, LLVMValueRef instruction,
                            LLVMValueRef *out, struct tkb_error *err)
{
	const bool is_call = LLVMIsACallInst(instruction) != NULL;
	const int count = LLVMGetNumOperands(instruction);
	LLVMValueRef callee = NULL;
	LLVMValueRef copy;

	if (LLVMGetInstructionOpcode(instruction) == LLVMLoad) {
		*out = find_load(build, instruction);
		return 0;
	}
	*out = fold(build, instruction);
	if (*out != NULL)
		return 0;
	if (is_call) {
		const int rc = find_callee(
			build, LLVMGetCalledValue(instruction), &callee, err);

		if (rc < 0)
			return rc;
	}
	copy = LLVMInstructionClone(instruction);
	for (int i = 0; i < count; i++) {
		const unsigned at = (unsigned)i;

		/* a parameter may need instructions before this one */
		LLVMSetOperand(
			copy, at,
			is_call && i == count - 1
				? callee
				: find_copy(build,
		                            LLVMGetOperand(instruction, at)));
	}
	LLVMInsertIntoBuilder(build->builder, copy);
	if (LLVMCanValueUseFastMathFlags(copy))
		LLVMSetFastMathFlags(copy, build->math);
	*out = copy;
	return 0;
}

/* Flags that all matched instructions have, except for poison flags. */
static LLVMFastMathFlags common_math(const struct match *match)
{
	LLVMFastMathFlags flags =
		LLVMFastMathAll & ~LLVMFastMathNoNaNs & ~LLVMFastMathNoInfs;
	bool has_any = false;

	for (uint32_t i = 0; i < match->rule->node_count; i++) {
		if (!cost_is_real(match, i) ||
		    !LLVMCanValueUseFastMathFlags(match->bound[i].value))
			continue;
		flags &= LLVMGetFastMathFlags(match->bound[i].value);
		has_any = true;
	}
	return has_any ? flags : LLVMFastMathNone;
}

static int copy_all(struct build *build, LLVMValueRef *result_out,
                    struct tkb_error *err)
{
	LLVMValueRef at = rule_first(build->match->rule->replacement);

	while (LLVMGetInstructionOpcode(at) != LLVMRet) {
		struct copy *copy = &build->copies[build->copy_count];
		const int rc = copy_instruction(build, at, &copy->to, err);

		if (rc < 0)
			return rc;
		copy->from = at;
		build->copy_count++;
		at = LLVMGetNextInstruction(at);
	}
	*result_out = find_copy(build, LLVMGetOperand(at, 0));
	return 0;
}

/* Count uses before copies are made, which add uses. */
static void count_uses(struct build *build)
{
	const struct rule *rule = build->match->rule;
	size_t counts[RULE_MAX_PARAMETERS] = { 0 };

	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		LLVMUseRef use =
			LLVMGetFirstUse(LLVMGetParam(rule->replacement, i));

		for (; use != NULL; use = LLVMGetNextUse(use))
			counts[i]++;
	}
	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		size_t uses = 0;

		for (uint32_t j = 0; j < rule->parameter_count; j++)
			uses += is_twin(build->match, i, j) ? counts[j] : 0;
		build->has_uses[i] = uses > 1;
	}
}

int build_replacement(const struct match *match, LLVMModuleRef module,
                      LLVMBuilderRef builder, struct tkb_error *err)
{
	struct build build = { .match = match,
		               .module = module,
		               .builder = builder,
		               .math = common_math(match) };
	TKB_AUTO(tkb_free_at)
	struct copy *copies = tkb_alloc_array(
		rule_size(match->rule->replacement), sizeof(*copies));
	struct cost_dying dying = { .count = 0 };
	LLVMValueRef result = NULL;
	int rc;

	if (copies == NULL)
		return tkb_fail_nomem(err);
	build.copies = copies;
	count_uses(&build);
	LLVMPositionBuilderBefore(builder, match->root);
	rc = copy_all(&build, &result, err);
	if (rc < 0)
		return rc;
	cost_find_dying(&dying, match);
	LLVMReplaceAllUsesWith(match->root, result);
	LLVMInstructionEraseFromParent(match->root);
	cost_remove_dead(&dying);
	return 0;
}
