/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_sum.h"

#include "base/base.h"
#include "llvm/llvm_values.h"

enum {
	TERM_LIMIT = 4096,  /* of one sum; longer sums are left unchanged */
	PENDING_LIMIT = 256 /* nested sums that are not flattened yet */
};

static bool is_sum(LLVMValueRef value)
{
	return LLVMIsAInstruction(value) != NULL &&
	       LLVMGetInstructionOpcode(value) == LLVMAdd &&
	       llvm_is_integer(LLVMTypeOf(value), 32);
}

/* True for a sum whose only use is as a term of `of`. */
static bool is_inner(LLVMValueRef value, LLVMValueRef of)
{
	return is_sum(value) && llvm_has_one_use(value) &&
	       LLVMGetInstructionParent(value) == LLVMGetInstructionParent(of);
}

bool sum_is_root(LLVMValueRef value)
{
	LLVMUseRef use;
	LLVMValueRef user;

	if (!is_sum(value))
		return false;
	use = LLVMGetFirstUse(value);
	if (use == NULL)
		return false;
	user = LLVMGetUser(use);
	return !is_sum(user) || !is_inner(value, user);
}

static int add_term(struct sum *sum, LLVMValueRef value, struct tkb_error *err)
{
	const struct product term = { .value = value };

	return tkb_append(&sum->terms, &sum->count, &sum->capacity, &term,
	                  sizeof(term), err);
}

static void reverse(struct sum *sum)
{
	for (size_t i = 0; i < sum->count / 2; i++) {
		const struct product first = sum->terms[i];

		sum->terms[i] = sum->terms[sum->count - 1 - i];
		sum->terms[sum->count - 1 - i] = first;
	}
}

int sum_flatten(struct sum *sum, struct tkb_error *err)
{
	LLVMValueRef left[PENDING_LIMIT] = { sum->root };
	size_t left_count = 1;
	int rc = 0;

	sum->count = 0;
	while (left_count != 0 && rc == 0) {
		LLVMValueRef value = left[--left_count];

		if (value != sum->root && !is_inner(value, sum->root)) {
			rc = add_term(sum, value, err);
			continue;
		}
		if (left_count + 2 > PENDING_LIMIT ||
		    sum->count == TERM_LIMIT) {
			sum->count = 0;
			return 0;
		}
		left[left_count++] = LLVMGetOperand(value, 0);
		left[left_count++] = LLVMGetOperand(value, 1);
	}
	reverse(sum);
	return rc;
}

LLVMValueRef sum_byte_of(LLVMValueRef value)
{
	LLVMValueRef inner;

	if (LLVMIsASExtInst(value) == NULL && LLVMIsAZExtInst(value) == NULL)
		return NULL;
	inner = LLVMGetOperand(value, 0);
	return llvm_is_plain_load(inner) &&
	                       llvm_is_integer(LLVMTypeOf(inner), 8)
	               ? inner
	               : NULL;
}

void sum_read_product(LLVMTargetDataRef layout, struct product *product)
{
	LLVMValueRef value = product->value;
	if (LLVMIsAInstruction(value) == NULL ||
	    LLVMGetInstructionOpcode(value) != LLVMMul ||
	    !llvm_has_one_use(value))
		return;
	for (unsigned side = 0; side < 2; side++) {
		LLVMValueRef factor = LLVMGetOperand(value, side);
		LLVMValueRef byte = sum_byte_of(factor);

		if (byte == NULL) {
			product->bytes[0] = NULL;
			return;
		}
		product->bytes[side] = byte;
		product->kinds[side] = LLVMGetInstructionOpcode(factor);
		product->is_known[side] =
			prepack_address_of(layout, LLVMGetOperand(byte, 0),
		                           &product->addresses[side]);
	}
}
