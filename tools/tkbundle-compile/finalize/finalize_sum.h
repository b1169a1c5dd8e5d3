/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_SUM_H
#define TKB_COMPILE_FINALIZE_SUM_H

/* Sums of products of bytes, and what they are made of. */

#include "finalize/finalize_step.h"
#include "finalize/prepack.h"

/* One product: two bytes, and how each is extended. */
struct product {
	LLVMValueRef value;    /* of the sum: any; NULL: it is in a group */
	LLVMValueRef bytes[2]; /* loads; NULL: it is no product of bytes */
	LLVMOpcode kinds[2];
	struct prepack_address places[2];
	bool is_known[2]; /* are the places? */
};

struct sum {
	struct finalize *finalize;
	LLVMTargetDataRef layout;
	LLVMValueRef root;
	struct product *terms; /* owned */
	size_t count;
	size_t capacity;
	LLVMBuilderRef builder; /* owned */
	LLVMValueRef total;     /* so far; NULL: nothing */
	size_t group_count;
};

/* A sum in 32 bits that is no part of a longer one? */
bool sum_is_root(LLVMValueRef value);

/*
 * Take the sum at sum->root apart, into its terms in their order; too many are
 * none. Returns 0 or TKB_ERR_NOMEM.
 */
int sum_flatten(struct sum *sum, struct tkb_error *err);

/* The load of a byte that `value` is the extension of, or NULL. */
LLVMValueRef sum_byte_of(LLVMValueRef value);

/* Fill in the bytes of a term, if it is a product of bytes. */
void sum_read_product(LLVMTargetDataRef layout, struct product *product);

#endif
