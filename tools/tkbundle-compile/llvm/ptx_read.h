/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTX_READ_H
#define TKB_COMPILE_PTX_READ_H

/*
 * Recognizes a read that is written as inline PTX, in the form of Triton's
 * loads:
 *
 *     mov.u32 $0, 0x0;
 *     mov.u32 $1, 0x0;
 *     @$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];
 *
 * The numbers count the outputs first, then the operands of the call.
 */

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

enum {
	PTX_READ_LIMIT = 4,   /* outputs */
	PTX_OPERAND_LIMIT = 8 /* a fallback for each, and some more */
};

struct ptx_read {
	unsigned count; /* number of outputs */
	unsigned width; /* bits per output */
	/* Operands: the value of each output if the predicate is false */
	int fallbacks[PTX_READ_LIMIT]; /* -1: zero */
	int address;
	int predicate; /* operand of the call; -1: unconditional */
	int64_t offset;
	bool is_constant; /* ld.global.nc: nothing writes what it reads */
};

/* Recognize a read; false for any other call. */
bool ptx_read_of(LLVMValueRef call, struct ptx_read *out);

/*
 * Build the call of a read with another text of PTX. Without effects, LLVM may
 * move it across barriers.
 */
LLVMValueRef ptx_read_rewrite(LLVMBuilderRef builder, LLVMValueRef call,
                              const char *text, size_t size, bool has_effects);

/*
 * Build such a read of 1, 2 or 4 words of 32 bits: an i32, or a vector of them.
 * They are zeros where `condition` is false; NULL: it is unconditional. Nothing
 * moves it across barriers, or past other PTX with effects.
 */
LLVMValueRef ptx_read_build(LLVMBuilderRef builder, LLVMValueRef address,
                            unsigned count, LLVMValueRef condition);

/*
 * Replace a read of constants, by a load or by PTX, by one that nothing moves; the
 * builder is behind it. Does nothing to any other instruction.
 */
void ptx_read_pin(LLVMBuilderRef builder, LLVMValueRef read);

#endif
