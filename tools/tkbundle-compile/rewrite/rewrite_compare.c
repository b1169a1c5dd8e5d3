/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rewrite_compare.h"

#include <string.h>

/* Could the instruction change memory that was loaded before it? */
static bool may_write(LLVMValueRef instruction)
{
	LLVMValueRef callee;
	/* the "write" bits of all kinds of memory */
	const uint64_t writes = 0xaaaaaaaaaaaaaaaaU;

	switch ((int)LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
		return !llvm_is_plain(instruction);
	case LLVMStore:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMVAArg:
	case LLVMInvoke:
	case LLVMCallBr:
		return true;
	case LLVMCall:
		break;
	default:
		return false;
	}
	callee = LLVMGetCalledValue(instruction);
	return LLVMIsAFunction(callee) == NULL ||
	       (llvm_memory_effects(callee) & writes) != 0;
}

static bool is_same_load(const struct match *match, LLVMValueRef wanted,
                         LLVMValueRef load)
{
	if (!llvm_is_plain(load) ||
	    LLVMGetAlignment(load) < LLVMGetAlignment(wanted))
		return false;
	for (LLVMValueRef at = load; at != match->root;
	     at = LLVMGetNextInstruction(at)) {
		if (may_write(at))
			return false;
	}
	return true;
}

static bool is_same_call(LLVMValueRef wanted, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMIsAFunction(callee) != NULL &&
	       LLVMGetNumOperandBundles(call) == 0 &&
	       LLVMGetCalledFunctionType(call) ==
	               LLVMGetCalledFunctionType(wanted) &&
	       strcmp(llvm_name(callee),
	              llvm_name(LLVMGetCalledValue(wanted))) == 0;
}

static bool is_same_mask(LLVMValueRef wanted, LLVMValueRef shuffle)
{
	const unsigned count = LLVMGetNumMaskElements(wanted);

	if (LLVMGetNumMaskElements(shuffle) != count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (LLVMGetMaskValue(wanted, i) != LLVMGetMaskValue(shuffle, i))
			return false;
	}
	return true;
}

static bool is_same_path(LLVMValueRef wanted, LLVMValueRef aggregate)
{
	const unsigned count = LLVMGetNumIndices(wanted);

	return LLVMGetNumIndices(aggregate) == count &&
	       memcmp(LLVMGetIndices(wanted), LLVMGetIndices(aggregate),
	              count * sizeof(unsigned)) == 0;
}

/* The predicate with swapped operands: `a > b` is `b < a`. */
static unsigned swapped(unsigned predicate, bool is_float)
{
	static const unsigned integers[] = { LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
		                             LLVMIntULE, LLVMIntUGT, LLVMIntUGE,
		                             LLVMIntSLT, LLVMIntSLE, LLVMIntSGT,
		                             LLVMIntSGE };
	/* 1: equal, 2: greater, 4: less, 8: unordered */
	if (is_float)
		return (predicate & 9U) | ((predicate & 2U) << 1) |
		       ((predicate & 4U) >> 1);
	return integers[predicate - LLVMIntEQ];
}

bool compare_predicate(const struct rule_node *node, LLVMValueRef value,
                       bool is_swapped)
{
	const bool is_float = node->opcode == LLVMFCmp;
	unsigned wanted;
	unsigned got;

	if (is_float) {
		wanted = (unsigned)LLVMGetFCmpPredicate(node->value);
		got = (unsigned)LLVMGetFCmpPredicate(value);
	} else if (node->opcode == LLVMICmp) {
		wanted = (unsigned)LLVMGetICmpPredicate(node->value);
		got = (unsigned)LLVMGetICmpPredicate(value);
	} else {
		return true;
	}
	return wanted == (is_swapped ? swapped(got, is_float) : got);
}

/* Compare properties that depend on the kind of instruction. */
static bool is_same_kind(const struct match *match,
                         const struct rule_node *node, LLVMValueRef value)
{
	switch ((int)node->opcode) {
	case LLVMLoad:
		return is_same_load(match, node->value, value);
	case LLVMCall:
		return is_same_call(node->value, value);
	case LLVMShuffleVector:
		return is_same_mask(node->value, value);
	case LLVMExtractValue:
	case LLVMInsertValue:
		return is_same_path(node->value, value);
	case LLVMGetElementPtr:
		return LLVMGetGEPSourceElementType(node->value) ==
		       LLVMGetGEPSourceElementType(value);
	default:
		return true;
	}
}

bool compare_instruction(const struct match *match,
                         const struct rule_node *node, LLVMValueRef value)
{
	const uint32_t flags = rule_poison_flags(node->value);
	const LLVMFastMathFlags math = rule_fast_math(node->value);

	return LLVMGetInstructionOpcode(value) == node->opcode &&
	       LLVMTypeOf(value) == LLVMTypeOf(node->value) &&
	       LLVMGetNumOperands(value) == LLVMGetNumOperands(node->value) &&
	       (rule_poison_flags(value) & flags) == flags &&
	       (rule_fast_math(value) & math) == math &&
	       is_same_kind(match, node, value);
}

bool compare_constant(const struct rule_node *node, LLVMValueRef value)
{
	uint64_t wanted = 0;
	uint64_t got = 0;

	if (!node->is_index)
		return node->value == value;
	return llvm_read_number(node->value, &wanted) &&
	       llvm_read_number(value, &got) && wanted == got;
}
