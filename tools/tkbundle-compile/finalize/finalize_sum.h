/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_SUM_H
#define TKB_COMPILE_FINALIZE_SUM_H

/* Sums of byte products, and their parts. */

#include "finalize/finalize_step.h"
#include "finalize/prepack.h"

/* A product of two bytes, and how each is extended. */
struct product {
	LLVMValueRef value;    /* the term; NULL once it is in a group */
	LLVMValueRef bytes[2]; /* loads of the two bytes; NULL: not a product
	                          of bytes */
	LLVMOpcode kinds[2];
	struct prepack_address addresses[2];
	bool is_known[2]; /* whether the addresses are known */
};

struct sum {
	struct finalize *finalize;
	LLVMTargetDataRef layout;
	LLVMValueRef root;
	struct product *terms; /* owned */
	size_t count;
	size_t capacity;
	LLVMBuilderRef builder; /* owned */
	LLVMValueRef total;     /* the sum built so far; NULL: nothing yet */
	size_t group_count;
};

/* True for a 32-bit sum that is not part of a longer one. */
bool sum_is_root(LLVMValueRef value);

/*
 * List the terms of the sum at sum->root, in order; none if there are too many.
 * Returns 0 or TKB_ERR_NOMEM.
 */
int sum_flatten(struct sum *sum, struct tkb_error *err);

/* The load of the byte that `value` extends, or NULL. */
LLVMValueRef sum_byte_of(LLVMValueRef value);

/* Fill in the bytes of a term, if it is a product of bytes. */
void sum_read_product(LLVMTargetDataRef layout, struct product *product);

#endif
