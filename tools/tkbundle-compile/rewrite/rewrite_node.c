/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite_internal.h"

#include "rewrite/rewrite_compare.h"

static int bind_node(struct match *match, uint32_t node, struct binding binding,
                     struct tkb_error *err)
{
	match->bound[node] = binding;
	return match_push_trail(match, node, err);
}

/*
 * Used while rules are read: does a parameter of the replacement pass the
 * filter of the pattern's parameter with the same number?
 */
static bool is_as_filtered(const struct match *match,
                           const struct rule_filter *filter,
                           LLVMValueRef argument)
{
	const struct rule *rule = match->rule;

	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		if (LLVMGetParam(rule->replacement, i) == argument)
			return rule_filter_equals(filter, &rule->filters[i]);
	}
	return false;
}

/*
 * Does the value pass the node's filter? A filter applies to the value, not to
 * its bits.
 */
static bool passes(const struct match *match, const struct rule_node *parameter,
                   const struct binding *binding)
{
	const struct rule_filter *filter =
		&match->rule->filters[parameter->parameter];
	LLVMValueRef value = binding->source;

	if (!filter->is_set)
		return true;
	if (match->mode == MATCH_LENIENT && LLVMIsAArgument(value) != NULL)
		return is_as_filtered(match, filter, value);
	return binding->part == 0 &&
	       LLVMTypeOf(value) == LLVMTypeOf(parameter->value) &&
	       rule_filter_takes(filter, value);
}

/* Bind the parameter to binding.source, or to a part of it. */
static int bind_parameter(struct match *match, uint32_t node,
                          struct binding binding, struct tkb_error *err)
{
	const struct binding *old = &match->bound[node];

	binding.value = match_strip(binding.source);
	if (old->value != NULL)
		return old->value == binding.value &&
		                       old->part == binding.part &&
		                       old->lanes == binding.lanes
		               ? 0
		               : TKB_MISS;
	if (!passes(match, &match->rule->nodes[node], &binding))
		return TKB_MISS;
	return bind_node(match, node, binding, err);
}

static bool is_parameter(const struct match *match, uint32_t node)
{
	return match->rule->nodes[node].kind == RULE_PARAMETER;
}

uint32_t match_edge(const struct match *match, const struct rule_node *node,
                    uint32_t index)
{
	return match->rule->edges[node->edges + index];
}

static int push_operands(struct match *match, const struct rule_node *node,
                         LLVMValueRef value, bool is_swapped,
                         struct tkb_error *err)
{
	for (uint32_t i = node->edge_count; i-- > 0;) {
		const uint32_t from = is_swapped && i < 2 ? 1 - i : i;
		const int rc = match_push_goal(
			match, MATCH_NODE, match_edge(match, node, i),
			LLVMGetOperand(value, from), err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int match_swapped(struct match *match, uint32_t index, LLVMValueRef value,
                  struct tkb_error *err)
{
	const struct rule_node *node = &match->rule->nodes[index];

	if (!compare_predicate(node, value, true))
		return TKB_MISS;
	return push_operands(match, node, value, true, err);
}

/* A bitcast of a parameter matches any value of its type. */
static int match_bits(struct match *match, uint32_t index, LLVMValueRef value,
                      struct tkb_error *err)
{
	const struct rule_node *node = &match->rule->nodes[index];
	const struct binding binding = { .value = value, .is_virtual = true };
	int rc;

	if (LLVMTypeOf(value) != LLVMTypeOf(node->value))
		return TKB_MISS;
	rc = bind_parameter(match, match_edge(match, node, 0),
	                    (struct binding){ .source = value }, err);
	return rc != 0 ? rc : bind_node(match, index, binding, err);
}

static bool is_bits(const struct match *match, uint32_t index)
{
	const struct rule_node *node = &match->rule->nodes[index];

	return node->kind == RULE_INSTRUCTION && node->opcode == LLVMBitCast &&
	       is_parameter(match, match_edge(match, node, 0));
}

/*
 * An element of a parameter's bits may come from a longer vector; then the
 * parameter is bound to that part of it.
 */
static int match_part(struct match *match, uint32_t index, LLVMValueRef value,
                      struct tkb_error *err)
{
	const struct rule_node *node = &match->rule->nodes[index];
	const struct rule_node *bits =
		&match->rule->nodes[match_edge(match, node, 0)];
	LLVMValueRef vector = LLVMGetOperand(value, 0);
	const unsigned size = LLVMGetVectorSize(LLVMTypeOf(bits->value));
	uint64_t wanted = 0;
	uint64_t got = 0;
	int rc;

	if (size > MATCH_MAX_PART ||
	    !llvm_read_number(LLVMGetOperand(node->value, 1), &wanted) ||
	    !llvm_read_number(LLVMGetOperand(value, 1), &got) ||
	    LLVMGetVectorSize(LLVMTypeOf(vector)) % size != 0 ||
	    got >= LLVMGetVectorSize(LLVMTypeOf(vector)) ||
	    got % size != wanted)
		return TKB_MISS;
	rc = bind_parameter(
		match, match_edge(match, bits, 0),
		(struct binding){ .source = vector,
	                          .part = (uint32_t)(got / size) + 1,
	                          .lanes = size },
		err);
	return rc != 0 ? rc
	               : bind_node(match, index,
	                           (struct binding){ .value = value }, err);
}

/* An element of a vector with more lanes than the pattern's. */
static bool is_part(const struct match *match, const struct rule_node *node,
                    LLVMValueRef value)
{
	LLVMTypeRef wanted;
	LLVMTypeRef got;

	if (node->opcode != LLVMExtractElement ||
	    LLVMGetInstructionOpcode(value) != LLVMExtractElement ||
	    !is_bits(match, match_edge(match, node, 0)))
		return false;
	wanted = LLVMTypeOf(LLVMGetOperand(node->value, 0));
	got = LLVMTypeOf(LLVMGetOperand(value, 0));
	return LLVMGetTypeKind(wanted) == LLVMVectorTypeKind &&
	       LLVMGetTypeKind(got) == LLVMVectorTypeKind &&
	       LLVMGetElementType(wanted) == LLVMGetElementType(got) &&
	       LLVMGetVectorSize(got) > LLVMGetVectorSize(wanted);
}

/* Is an operand of the product a constant that the pattern leaves open? */
static bool has_factor(const struct match *match, const struct rule_node *node,
                       uint32_t *out)
{
	if (node->opcode != LLVMMul || rule_poison_flags(node->value) != 0 ||
	    LLVMGetTypeKind(LLVMTypeOf(node->value)) != LLVMIntegerTypeKind)
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		const struct rule_node *factor =
			&match->rule->nodes[match_edge(match, node, i)];
		const struct rule_node *other =
			&match->rule->nodes[match_edge(match, node, 1 - i)];

		*out = i;
		if (factor->kind == RULE_PARAMETER &&
		    match->rule->filters[factor->parameter].is_constant &&
		    other->kind != RULE_PARAMETER)
			return true;
	}
	return false;
}

/*
 * LLVM writes x * 4 as x << 2, and x * 1 as x. These only match if the other
 * factor is not a parameter, or everything would be a product.
 */
static int match_factor(struct match *match, uint32_t index, LLVMValueRef value,
                        uint32_t factor, struct tkb_error *err)
{
	const struct rule_node *node = &match->rule->nodes[index];
	LLVMTypeRef type = LLVMTypeOf(value);
	struct binding binding = { .value = value };
	LLVMValueRef other = value;
	uint64_t shift = 0;
	int rc;

	if (type != LLVMTypeOf(node->value))
		return TKB_MISS;
	if (LLVMGetInstructionOpcode(value) == LLVMShl &&
	    llvm_read_number(LLVMGetOperand(value, 1), &shift) &&
	    shift < LLVMGetIntTypeWidth(type))
		other = LLVMGetOperand(value, 0);
	else
		binding.is_virtual = true;
	if (shift >= LLVMGetIntTypeWidth(type))
		return TKB_MISS;
	rc = bind_node(match, index, binding, err);
	if (rc == 0)
		rc = match_push_goal(match, MATCH_NODE,
		                     match_edge(match, node, 1 - factor), other,
		                     err);
	if (rc == 0)
		rc = match_push_goal(
			match, MATCH_NODE, match_edge(match, node, factor),
			LLVMConstInt(type, UINT64_C(1) << shift, false), err);
	return rc;
}

static int match_instruction(struct match *match, uint32_t index,
                             LLVMValueRef value, struct tkb_error *err)
{
	const struct rule_node *node = &match->rule->nodes[index];
	const struct binding binding = { .value = value };
	uint32_t factor = 0;
	int rc;

	if (is_bits(match, index))
		return match_bits(match, index, value, err);
	if (LLVMIsAInstruction(value) == NULL ||
	    LLVMGetInstructionParent(value) != match->block)
		return TKB_MISS;
	if (is_part(match, node, value))
		return match_part(match, index, value, err);
	if (LLVMGetInstructionOpcode(value) != LLVMMul &&
	    has_factor(match, node, &factor))
		return match_factor(match, index, value, factor, err);
	if (!compare_instruction(match, node, value))
		return TKB_MISS;
	rc = bind_node(match, index, binding, err);
	if (rc == 0 && node->is_commutative)
		rc = match_push_choice(match, MATCH_SWAP, index, value, err);
	if (rc < 0)
		return rc;
	if (!compare_predicate(node, value, false))
		return TKB_MISS;
	return push_operands(match, node, value, false, err);
}

int match_node(struct match *match, uint32_t index, LLVMValueRef value,
               struct tkb_error *err)
{
	const struct rule_node *node = &match->rule->nodes[index];
	const struct binding *old = &match->bound[index];
	int rc;

	if (node->kind == RULE_PARAMETER)
		return LLVMTypeOf(value) != LLVMTypeOf(node->value)
		               ? TKB_MISS
		               : bind_parameter(
					 match, index,
					 (struct binding){ .source = value },
					 err);
	if (old->value != NULL)
		return old->value == value ? 0 : TKB_MISS;
	if (node->kind == RULE_CONSTANT)
		return compare_constant(node, value) ? 0 : TKB_MISS;
	if (node->kind == RULE_INSTRUCTION)
		return match_instruction(match, index, value, err);
	rc = bind_node(match, index,
	               (struct binding){ .value = value, .is_virtual = true },
	               err);
	if (rc == 0)
		rc = match_push_choice(match, MATCH_EITHER, index, value, err);
	return rc < 0 ? rc : TKB_MISS; /* continue with the first alternative */
}
