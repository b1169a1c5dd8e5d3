/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_QUANT_WALK_H
#define TKB_COMPILE_QUANT_WALK_H

/* Where a value comes from, and what it is, for quant.c. */

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Called with each value that a value is computed of. False: no further. */
typedef bool quant_visit(LLVMValueRef value, void *self);

/*
 * Go back from `from`, which is visited first, through what computes: operations,
 * phis, calls without effects. Loads, arguments and constants are ends, which are
 * visited. Returns false if there was more than is looked at.
 */
bool quant_walk_back(LLVMValueRef from, quant_visit *visit, void *self);

/* What a value is computed of. */
struct quant_origin {
	bool has_table; /* loads of constants of the module */
	bool has_other; /* what is not known before the kernel runs */
};

struct quant_origin quant_origin_of(LLVMValueRef value);

/* Nothing but numbers, and loads of constants of the module. */
bool quant_is_constant(LLVMValueRef value);

/*
 * Is it computed of what was read from memory, or of floats? Numbers of threads
 * and of turns of a loop are not.
 */
bool quant_is_data(LLVMValueRef value);

/* How many bits an integer, or each of a vector, has that its type may widen. */
unsigned quant_bits_of(LLVMValueRef value);

/* Does the call multiply four bytes by four bytes? */
bool quant_is_dp4a(LLVMValueRef value);

#endif
