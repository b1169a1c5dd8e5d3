/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rule.h"

#include <math.h>
#include <string.h>

enum {
	RANGE_DEPTH = 4 /* depth of operands that are searched */
};

/* A range of integers, if known. */
struct range {
	bool is_known;
	int64_t low, high;
};

static bool has_wrap_flags(LLVMOpcode opcode)
{
	return opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul ||
	       opcode == LLVMShl || opcode == LLVMTrunc;
}

static bool has_exact_flag(LLVMOpcode opcode)
{
	return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMLShr ||
	       opcode == LLVMAShr;
}

uint32_t rule_poison_flags(LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);

	if (has_wrap_flags(opcode))
		return (LLVMGetNSW(instruction) ? 1U : 0U) |
		       (LLVMGetNUW(instruction) ? 2U : 0U);
	if (has_exact_flag(opcode))
		return LLVMGetExact(instruction) ? 1U : 0U;
	if (opcode == LLVMZExt || opcode == LLVMUIToFP)
		return LLVMGetNNeg(instruction) ? 1U : 0U;
	if (opcode == LLVMOr)
		return LLVMGetIsDisjoint(instruction) ? 1U : 0U;
	if (opcode == LLVMICmp)
		return LLVMGetICmpSameSign(instruction) ? 1U : 0U;
	if (opcode == LLVMGetElementPtr)
		return LLVMGEPGetNoWrapFlags(instruction);
	return 0;
}

LLVMFastMathFlags rule_fast_math(LLVMValueRef instruction)
{
	return LLVMCanValueUseFastMathFlags(instruction)
	               ? LLVMGetFastMathFlags(instruction)
	               : LLVMFastMathNone;
}

static bool is_addition(LLVMValueRef value, LLVMBasicBlockRef block)
{
	return LLVMIsAInstruction(value) != NULL &&
	       LLVMGetInstructionOpcode(value) == LLVMAdd &&
	       LLVMGetInstructionParent(value) == block;
}

bool rule_is_part_of_sum(LLVMValueRef value)
{
	LLVMBasicBlockRef block;

	if (LLVMIsAInstruction(value) == NULL || !llvm_has_one_use(value))
		return false;
	block = LLVMGetInstructionParent(value);
	return is_addition(value, block) &&
	       is_addition(LLVMGetUser(LLVMGetFirstUse(value)), block);
}

size_t rule_flatten(LLVMValueRef root, LLVMValueRef terms[RULE_MAX_TERMS],
                    LLVMValueRef additions[RULE_MAX_TERMS])
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(root);
	size_t count = 1;
	size_t at = 0;

	terms[0] = root;
	/* Replace additions by their operands until there are no more. */
	while (at < count) {
		LLVMValueRef term = terms[at];

		if (!is_addition(term, block) || count == RULE_MAX_TERMS ||
		    (term != root && !llvm_has_one_use(term))) {
			at++;
			continue;
		}
		memmove(terms + at + 2, terms + at + 1,
		        (count - at - 1) * sizeof(*terms));
		additions[count - 1] = term;
		terms[at] = LLVMGetOperand(term, 0);
		terms[at + 1] = LLVMGetOperand(term, 1);
		count++;
	}
	return count;
}

/* Width of an integer of at most 64 bits, or of such lanes; else 0. */
static unsigned integer_width(LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
		type = LLVMGetElementType(type);
	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
	    LLVMGetIntTypeWidth(type) > 64)
		return 0;
	return LLVMGetIntTypeWidth(type);
}

/* Lane `index` of a constant vector, or the constant itself. */
static LLVMValueRef lane_of(LLVMValueRef constant, unsigned index)
{
	return LLVMGetTypeKind(LLVMTypeOf(constant)) == LLVMVectorTypeKind
	               ? LLVMGetAggregateElement(constant, index)
	               : constant;
}

static bool is_constant_number(LLVMValueRef value)
{
	return value != NULL && (LLVMIsAConstantInt(value) != NULL ||
	                         LLVMIsAConstantFP(value) != NULL);
}

bool rule_is_number(LLVMValueRef value)
{
	LLVMTypeRef type = LLVMTypeOf(value);

	if (!LLVMIsConstant(value) ||
	    LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind)
		return false;
	for (unsigned i = 0; i < llvm_lane_count(type); i++) {
		if (!is_constant_number(lane_of(value, i)))
			return false;
	}
	return true;
}

static struct range range_of_lanes(LLVMValueRef constant)
{
	struct range range = { true, INT64_MAX, INT64_MIN };

	for (unsigned i = 0; i < llvm_lane_count(LLVMTypeOf(constant)); i++) {
		const int64_t lane =
			LLVMConstIntGetSExtValue(lane_of(constant, i));

		range.low = lane < range.low ? lane : range.low;
		range.high = lane > range.high ? lane : range.high;
	}
	return range;
}

static struct range range_of_width(unsigned width, bool is_signed)
{
	if (width == 0 || width > 62)
		return (struct range){ .is_known = false };
	if (is_signed)
		return (struct range){ true, -(INT64_C(1) << (width - 1)),
			               (INT64_C(1) << (width - 1)) - 1 };
	return (struct range){ true, 0, (INT64_C(1) << width) - 1 };
}

static struct range find_range(LLVMValueRef value, unsigned depth);

/* The sum of the operands' ranges, if it cannot wrap. */
static struct range range_of_sum(LLVMValueRef value, bool is_difference,
                                 unsigned depth)
{
	const unsigned width = integer_width(LLVMTypeOf(value));
	const struct range whole = range_of_width(width, true);
	const struct range a = find_range(LLVMGetOperand(value, 0), depth);
	const struct range b = find_range(LLVMGetOperand(value, 1), depth);
	const int64_t limit = INT64_C(1) << 40;
	struct range sum = { .is_known = a.is_known && b.is_known &&
		                         whole.is_known };

	if (!sum.is_known || a.low < -limit || a.high > limit ||
	    b.low < -limit || b.high > limit)
		return (struct range){ .is_known = false };
	sum.low = is_difference ? a.low - b.high : a.low + b.low;
	sum.high = is_difference ? a.high - b.low : a.high + b.high;
	sum.is_known = sum.low >= whole.low && sum.high <= whole.high;
	return sum;
}

/* The range that a mask or a right shift by a constant leaves. */
static struct range range_of_bits(LLVMValueRef value, LLVMOpcode opcode)
{
	const unsigned width = integer_width(LLVMTypeOf(value));
	LLVMValueRef by = LLVMGetOperand(value, 1);
	struct range range;

	if (width == 0 || !rule_is_number(by))
		return (struct range){ .is_known = false };
	range = range_of_lanes(by);
	if (range.low < 0)
		return (struct range){ .is_known = false };
	if (opcode == LLVMAnd)
		return (struct range){ true, 0, range.high };
	if ((uint64_t)range.low >= width)
		return (struct range){ .is_known = false };
	/* A shift by 0 keeps the sign of a lane. */
	return range_of_width(width - (unsigned)range.low,
	                      opcode == LLVMAShr || range.low == 0);
}

static struct range find_range(LLVMValueRef value, unsigned depth)
{
	LLVMOpcode opcode;

	if (rule_is_number(value) && integer_width(LLVMTypeOf(value)) > 0)
		return range_of_lanes(value);
	if (LLVMIsAInstruction(value) == NULL || depth == 0)
		return range_of_width(integer_width(LLVMTypeOf(value)), true);
	opcode = LLVMGetInstructionOpcode(value);
	if (opcode == LLVMSExt || opcode == LLVMZExt)
		return range_of_width(
			integer_width(LLVMTypeOf(LLVMGetOperand(value, 0))),
			opcode == LLVMSExt);
	if (opcode == LLVMAnd || opcode == LLVMLShr || opcode == LLVMAShr)
		return range_of_bits(value, opcode);
	if (opcode == LLVMAdd || opcode == LLVMSub)
		return range_of_sum(value, opcode == LLVMSub, depth - 1);
	return range_of_width(integer_width(LLVMTypeOf(value)), true);
}

static double magnitude_of(LLVMValueRef constant)
{
	LLVMBool is_inexact = false;

	return fabs(LLVMConstRealGetDouble(constant, &is_inexact));
}

static bool has_magnitude(const struct rule_filter *filter,
                          LLVMValueRef constant)
{
	for (unsigned i = 0; i < llvm_lane_count(LLVMTypeOf(constant)); i++) {
		LLVMValueRef lane = lane_of(constant, i);
		double magnitude;

		if (LLVMIsAConstantFP(lane) == NULL)
			return false;
		magnitude = magnitude_of(lane);
		/* false for NaN */
		if (!(magnitude >= filter->least && magnitude <= filter->most))
			return false;
	}
	return true;
}

static bool is_power_of_two(LLVMValueRef value)
{
	uint64_t bits;

	if (LLVMIsAConstantInt(value) == NULL ||
	    integer_width(LLVMTypeOf(value)) == 0)
		return false;
	bits = LLVMConstIntGetZExtValue(value);
	return bits != 0 && (bits & (bits - 1)) == 0;
}

bool rule_filter_takes(const struct rule_filter *filter, LLVMValueRef value)
{
	struct range range;

	if (filter->is_constant && !rule_is_number(value))
		return false;
	if (filter->is_power_of_two && !is_power_of_two(value))
		return false;
	if (filter->has_magnitude && !has_magnitude(filter, value))
		return false;
	if (!filter->has_range)
		return true;
	range = find_range(value, RANGE_DEPTH);
	return range.is_known && range.low >= filter->low &&
	       range.high <= filter->high;
}

bool rule_filter_equals(const struct rule_filter *a,
                        const struct rule_filter *b)
{
	return a->is_set == b->is_set && a->is_constant == b->is_constant &&
	       a->is_power_of_two == b->is_power_of_two &&
	       a->has_range == b->has_range && a->low == b->low &&
	       a->high == b->high && a->has_magnitude == b->has_magnitude &&
	       a->least == b->least && a->most == b->most &&
	       a->is_reciprocal == b->is_reciprocal &&
	       a->reciprocal_of == b->reciprocal_of;
}

bool rule_is_reciprocal(LLVMValueRef a, LLVMValueRef b)
{
	LLVMBool is_inexact = false;

	if (!rule_is_number(a) || !rule_is_number(b) ||
	    LLVMIsAConstantFP(a) == NULL || LLVMIsAConstantFP(b) == NULL)
		return false;
	return fabs(LLVMConstRealGetDouble(a, &is_inexact) *
	                    LLVMConstRealGetDouble(b, &is_inexact) -
	            1) <= 0x1p-12;
}
