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

/* Does it copy from global to shared memory asynchronously, by inline PTX? */
bool llvm_is_copy(LLVMValueRef instruction);

/*
 * Does it copy so in any way, or signal or wait for such copies? Or read shared memory
 * asynchronously, as wgmma does, which sees stores only behind a fence of its own?
 */
bool llvm_concerns_copies(LLVMValueRef instruction);

/* Does it close a group of such copies, or wait for groups? */
bool llvm_is_copy_group(LLVMValueRef instruction);

/*
 * Does it leave shared memory alone, too? It computes, exchanges registers within a
 * warp, or reads global memory.
 */
bool llvm_is_apart_from_shared(LLVMValueRef instruction);

/*
 * The first instruction of the block that may write global memory, or learn that
 * others wrote it: a store, an atomic, a fence, any call that is not known; else
 * the block's terminator.
 */
LLVMValueRef llvm_first_write(LLVMBasicBlockRef block);

/* Blocks of a function, in any order. */
struct llvm_blocks {
	LLVMBasicBlockRef *items;
	size_t count;
};

/* Find the blocks that control may reach after such a write; false: no memory. */
bool llvm_find_after_writes(struct llvm_blocks *blocks, LLVMValueRef function);

/* Find those that it may reach from the end of a block; false: no memory. */
bool llvm_find_after(struct llvm_blocks *blocks, LLVMBasicBlockRef block);
void llvm_blocks_release(struct llvm_blocks *blocks);
bool llvm_is_among(const struct llvm_blocks *blocks, LLVMBasicBlockRef block);

#endif
