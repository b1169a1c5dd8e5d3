/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_QUANT_WALK_H
#define TKB_COMPILE_QUANT_WALK_H

/* What a value is computed from, for quant.c. */

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Called for each value on the way back. False: do not go back from this one. */
typedef bool quant_visit(LLVMValueRef value, void *self);

/*
 * Visit `from`, and then all that it is computed from, back through operations,
 * phis and calls without effects. Loads, arguments and constants are visited, but
 * not what is behind them. Returns false if there was more than the limit.
 */
bool quant_walk_back(LLVMValueRef from, quant_visit *visit, void *self);

/* What a value is computed from. */
struct quant_origin {
	bool has_table; /* loads of constants of the module */
	bool has_other; /* what is not known before the kernel runs */
};

struct quant_origin quant_origin_of(LLVMValueRef value);

/* Is it computed from numbers and constants of the module alone? */
bool quant_is_constant(LLVMValueRef value);

/*
 * Is it computed from memory or from floats? Indices of threads and counters of
 * loops are not.
 */
bool quant_is_data(LLVMValueRef value);

/* The bits of an integer, or of each in a vector, before it was extended. */
unsigned quant_bits_of(LLVMValueRef value);

/* Does the call multiply four bytes by four bytes? */
bool quant_is_dp4a(LLVMValueRef value);

#endif
