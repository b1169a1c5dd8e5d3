/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_LLVM_EFFECTS_H
#define TKB_COMPILE_LLVM_EFFECTS_H

/*
 * What instructions of a kernel do besides computing, as far as order matters:
 * in which of them may threads see each other? Inline PTX and intrinsics that are
 * not known may do anything.
 */

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Does the instruction compute a value from its operands, and nothing else? */
bool llvm_is_computation(LLVMValueRef instruction);

/* Do all threads of the block wait for each other here? */
bool llvm_is_barrier(LLVMValueRef instruction);

/*
 * Does it leave shared memory alone, too? It computes, exchanges registers within a
 * warp, or reads global memory.
 */
bool llvm_is_apart_from_shared(LLVMValueRef instruction);

/* The blocks of a function that may run after a write, in any order. */
struct llvm_after_writes {
	LLVMBasicBlockRef *blocks;
	size_t count;
};

/*
 * The first instruction of the block that may write global memory, or learn that
 * others wrote it: a store, an atomic, a fence, any call that is not known; else
 * the block's terminator.
 */
LLVMValueRef llvm_first_write(LLVMBasicBlockRef block);

/* Find the blocks that control may reach after such a write; false: no memory. */
bool llvm_after_writes_open(struct llvm_after_writes *after,
                            LLVMValueRef function);
void llvm_after_writes_close(struct llvm_after_writes *after);
bool llvm_is_after_write(const struct llvm_after_writes *after,
                         LLVMBasicBlockRef block);

#endif
