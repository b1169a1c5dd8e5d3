/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_QUANT_WALK_H
#define TKB_COMPILE_QUANT_WALK_H

/* Finds what a value is computed from. */

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Called for each value on the way back; false: go no further from it. */
typedef bool quant_visit(LLVMValueRef value, void *self);

/*
 * Visit `from` and everything that it is computed from, back through operations,
 * phis and calls without effects. The walk ends at loads, arguments and
 * constants, which are still visited. Returns false if there were too many
 * values.
 */
bool quant_walk_back(LLVMValueRef from, quant_visit *visit, void *self);

/* What a value is computed from. */
struct quant_origin {
	bool has_table; /* loads of constants of the module */
	bool has_other; /* values known only when the kernel runs */
};

struct quant_origin quant_origin_of(LLVMValueRef value);

/* Does the address point into a constant of the module, however it is computed? */
bool quant_is_in_table(LLVMValueRef address);

/* Is the value computed only from numbers and constants of the module? */
bool quant_is_constant(LLVMValueRef value);

/* Is it from memory or floats, unlike thread indices and loop counters? */
bool quant_is_data(LLVMValueRef value);

/* The width of an integer, or of a vector's lanes, before it was extended. */
unsigned quant_bits_of(LLVMValueRef value);

/* Does the call multiply four bytes by four bytes? */
bool quant_is_dp4a(LLVMValueRef value);

#endif
