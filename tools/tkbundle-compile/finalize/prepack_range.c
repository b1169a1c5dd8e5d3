/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack.h"

#include <string.h>

#include "llvm/llvm_values.h"

/* Finds ranges of values: masks, remainders, thread indices, loops. */

#define LIMIT ((int64_t)1 << 30)

static bool constant_of(LLVMValueRef value, int64_t *out)
{
	if (LLVMIsAConstantInt(value) == NULL ||
	    LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
		return false;
	*out = LLVMConstIntGetSExtValue(value);
	return *out >= 0 && *out <= LIMIT;
}

/* Hardware registers, and their maximum. */
static bool range_of_call(LLVMValueRef call, struct prepack_range *out)
{
	static const struct {
		const char *name;
		int64_t high;
	} registers[] = {
		{ "tid.x", 1023 },
		{ "tid.y", 1023 },
		{ "tid.z", 63 },
		{ "laneid", 31 },
	};
	const char *const name = llvm_special_register(call);

	for (size_t i = 0; i < TKB_COUNT_OF(registers); i++) {
		if (name != NULL && strcmp(name, registers[i].name) == 0) {
			out->high = registers[i].high;
			return true;
		}
	}
	return false;
}

/* A loop counter: it starts with a constant, and adds a constant each time. */
struct counter {
	LLVMValueRef next;
	LLVMBasicBlockRef latch; /* the block that branches back */
	int64_t limit;           /* no value below this wraps */
	int64_t first;
	int64_t step;
};

static bool read_counter(LLVMValueRef phi, struct counter *out)
{
	unsigned again;

	if (LLVMCountIncoming(phi) != 2)
		return false;
	again = constant_of(LLVMGetIncomingValue(phi, 0), &out->first) ? 1 : 0;
	if (!constant_of(LLVMGetIncomingValue(phi, 1 - again), &out->first))
		return false;
	out->limit =
		LLVMGetIntTypeWidth(LLVMTypeOf(phi)) > 31
			? 2 * LIMIT
			: (int64_t)1
				  << (LLVMGetIntTypeWidth(LLVMTypeOf(phi)) - 1);
	out->next = LLVMGetIncomingValue(phi, again);
	out->latch = LLVMGetIncomingBlock(phi, again);
	return LLVMIsAInstruction(out->next) != NULL &&
	       LLVMGetInstructionOpcode(out->next) == LLVMAdd &&
	       LLVMGetOperand(out->next, 0) == phi &&
	       constant_of(LLVMGetOperand(out->next, 1), &out->step) &&
	       out->step > 0;
}

static LLVMIntPredicate opposite(LLVMIntPredicate predicate)
{
	switch (predicate) {
	case LLVMIntEQ:
		return LLVMIntNE;
	case LLVMIntUGE:
		return LLVMIntULT;
	case LLVMIntSGE:
		return LLVMIntSLT;
	case LLVMIntUGT:
		return LLVMIntULE;
	case LLVMIntSGT:
		return LLVMIntSLE;
	default:
		return LLVMIntEQ; /* not handled */
	}
}

/*
 * The counter's last value in a loop that continues while `predicate` holds for
 * the tested value and `bound`.
 */
static bool last_of(const struct counter *counter, bool is_next_tested,
                    LLVMIntPredicate predicate, int64_t bound, int64_t *out)
{
	const int64_t first = counter->first;
	const int64_t step = counter->step;
	int64_t last;

	switch (predicate) {
	case LLVMIntULE:
	case LLVMIntSLE:
		bound++;
		break;
	case LLVMIntULT:
	case LLVMIntSLT:
		break;
	case LLVMIntNE:
		if (bound <= first || (bound - first) % step != 0)
			return false;
		break;
	default:
		return false;
	}
	if (bound + step >= counter->limit)
		return false;
	/* The loop continues up to the largest tested value below the bound. */
	last = bound <= first ? first
	                      : first + (bound - 1 - first) / step * step;
	if (!is_next_tested && bound > first)
		last += step;
	*out = last;
	return true;
}

static bool range_of_phi(LLVMValueRef phi, struct prepack_range *out)
{
	struct counter counter;
	LLVMValueRef end;
	LLVMValueRef test;
	LLVMIntPredicate predicate;
	LLVMBasicBlockRef head = LLVMGetInstructionParent(phi);
	int64_t bound;

	if (!read_counter(phi, &counter))
		return false;
	end = LLVMGetBasicBlockTerminator(counter.latch);
	if (LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end))
		return false;
	test = LLVMIsAICmpInst(LLVMGetCondition(end));
	if (test == NULL || !constant_of(LLVMGetOperand(test, 1), &bound) ||
	    (LLVMGetOperand(test, 0) != phi &&
	     LLVMGetOperand(test, 0) != counter.next) ||
	    LLVMGetSuccessor(end, 0) == LLVMGetSuccessor(end, 1))
		return false;
	predicate = LLVMGetICmpPredicate(test);
	if (LLVMGetSuccessor(end, 0) != head)
		predicate = opposite(predicate);
	out->low = counter.first;
	out->step = counter.step;
	return last_of(&counter, LLVMGetOperand(test, 0) == counter.next,
	               predicate, bound, &out->high);
}

static bool range_of_bits(LLVMValueRef value, struct prepack_range *out)
{
	const unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(value));
	int64_t number;

	if (!constant_of(LLVMGetOperand(value, 1), &number))
		return false;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMAnd:
		out->high = number;
		if (number != 0)
			out->step = number & -number; /* the lowest bit */
		return true;
	case LLVMURem:
		out->high = number - 1;
		return number > 0;
	default: /* LLVMLShr */
		if (width > 32 || number == 0 || number >= (int64_t)width)
			return false;
		out->high = (int64_t)((((uint64_t)1 << width) - 1) >> number);
		return true;
	}
}

bool prepack_range_of(const struct prepack_term *term,
                      struct prepack_range *out)
{
	LLVMValueRef value = term->value;
	struct prepack_range range = { .low = 0, .step = 1 };
	bool is_known = false;

	if (LLVMIsAInstruction(value) == NULL)
		return false;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMAnd:
	case LLVMURem:
	case LLVMLShr:
		is_known = range_of_bits(value, &range);
		break;
	case LLVMCall:
		is_known = range_of_call(value, &range);
		break;
	case LLVMPHI:
		is_known = range_of_phi(value, &range);
		break;
	default:
		break;
	}
	if (is_known)
		*out = range;
	return is_known && range.high <= LIMIT;
}
