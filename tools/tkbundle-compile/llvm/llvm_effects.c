/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm/llvm_effects.h"

#include <stdlib.h>
#include <string.h>

#include "llvm/llvm_values.h"
#include "llvm/ptx_read.h"

/* Address spaces. */
enum {
	GLOBAL = 1,
	SHARED = 3
};

/* Of all threads of the block. */
static const char *const barriers[] = {
	"llvm.nvvm.barrier0",
	"llvm.nvvm.barrier.cta.sync.aligned.all",
};

static const char *const groups[] = {
	"llvm.nvvm.cp.async.commit.group",
	"llvm.nvvm.cp.async.wait.group",
	"llvm.nvvm.cp.async.wait.all",
};

/* Calls that touch registers alone. */
static const char *const exchanges[] = {
	"llvm.nvvm.shfl.sync.",
	"llvm.nvvm.mma.",
	"llvm.nvvm.vote.",
	"llvm.nvvm.redux.sync.",
};

static const char *const product[] = { "mma.sync." };

/* What touches shared memory, too. */
static const char *const matrices[] = {
	"llvm.nvvm.ldmatrix.",
	"llvm.nvvm.stmatrix.",
};

static const char *const copies[] = {
	"cp.async.cg.shared.global ",
	"cp.async.ca.shared.global ",
};

bool llvm_is_barrier(LLVMValueRef instruction)
{
	return llvm_calls_any(instruction, barriers, TKB_COUNT_OF(barriers));
}

bool llvm_is_computation(LLVMValueRef instruction)
{
	if (llvm_called_function(instruction) != NULL)
		return llvm_only_computes(llvm_called_function(instruction));
	if (LLVMIsABinaryOperator(instruction) != NULL ||
	    LLVMIsACastInst(instruction) != NULL ||
	    LLVMIsACmpInst(instruction) != NULL)
		return true;
	switch ((int)LLVMGetInstructionOpcode(instruction)) {
	case LLVMGetElementPtr:
	case LLVMSelect:
	case LLVMFreeze:
	case LLVMFNeg:
	case LLVMExtractElement:
	case LLVMInsertElement:
	case LLVMShuffleVector:
	case LLVMExtractValue:
	case LLVMInsertValue:
		return true;
	default:
		return false;
	}
}

bool llvm_is_copy_group(LLVMValueRef instruction)
{
	return llvm_calls_any(instruction, groups, TKB_COUNT_OF(groups));
}

static bool is_ptx(LLVMValueRef at, const char *const *words, size_t count)
{
	const char *text = llvm_called_ptx(at);

	return text != NULL && tkb_begins_with_any(text, words, count);
}

bool llvm_is_copy(LLVMValueRef instruction)
{
	return is_ptx(instruction, copies, TKB_COUNT_OF(copies));
}

bool llvm_concerns_copies(LLVMValueRef instruction)
{
	static const char *const functions[] = {
		"llvm.nvvm.cp.async.",
		"llvm.nvvm.wgmma.",
		"llvm.nvvm.tcgen05.",
	};
	static const char *const words[] = { "cp.async.", "wgmma.",
		                             "tcgen05." };
	const char *text = llvm_called_ptx(instruction);

	if (llvm_called_assembly(instruction) == NULL)
		return llvm_calls_any(instruction, functions,
		                      TKB_COUNT_OF(functions));
	for (size_t i = 0; i < TKB_COUNT_OF(words); i++) {
		if (text == NULL || strstr(text, words[i]) != NULL)
			return true;
	}
	return false;
}

static unsigned space_of(LLVMValueRef access, unsigned address)
{
	return LLVMGetPointerAddressSpace(
		LLVMTypeOf(LLVMGetOperand(access, address)));
}

bool llvm_is_apart_from_shared(LLVMValueRef instruction)
{
	struct ptx_read read;

	if (LLVMIsALoadInst(instruction) != NULL)
		return llvm_is_plain(instruction) &&
		       space_of(instruction, 0) == GLOBAL;
	return llvm_is_computation(instruction) ||
	       llvm_calls_any(instruction, exchanges,
	                      TKB_COUNT_OF(exchanges)) ||
	       is_ptx(instruction, product, TKB_COUNT_OF(product)) ||
	       ptx_read_of(instruction, &read);
}

static bool may_write(LLVMValueRef at)
{
	if (LLVMIsALoadInst(at) != NULL)
		return !llvm_is_plain(at);
	if (LLVMIsAStoreInst(at) != NULL)
		return !llvm_is_plain(at) || space_of(at, 1) != SHARED;
	return LLVMIsAPHINode(at) == NULL && !llvm_is_apart_from_shared(at) &&
	       !llvm_is_barrier(at) && !llvm_is_copy_group(at) &&
	       !llvm_is_copy(at) &&
	       !llvm_calls_any(at, matrices, TKB_COUNT_OF(matrices));
}

LLVMValueRef llvm_first_write(LLVMBasicBlockRef block)
{
	LLVMValueRef at = LLVMGetFirstInstruction(block);

	while (LLVMIsATerminatorInst(at) == NULL && !may_write(at))
		at = LLVMGetNextInstruction(at);
	return at;
}

bool llvm_is_among(const struct llvm_blocks *blocks, LLVMBasicBlockRef block)
{
	for (size_t i = 0; i < blocks->count; i++) {
		if (blocks->items[i] == block)
			return true;
	}
	return false;
}

static bool open_blocks(struct llvm_blocks *blocks, LLVMValueRef function)
{
	*blocks = (struct llvm_blocks){
		.items = calloc(LLVMCountBasicBlocks(function),
		                sizeof(LLVMBasicBlockRef)),
	};
	return blocks->items != NULL;
}

static void add_successors(struct llvm_blocks *blocks, LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
		LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);

		if (!llvm_is_among(blocks, next))
			blocks->items[blocks->count++] = next;
	}
}

static void add_reachable(struct llvm_blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		add_successors(blocks, blocks->items[i]);
}

bool llvm_find_after_writes(struct llvm_blocks *blocks, LLVMValueRef function)
{
	if (!open_blocks(blocks, function))
		return false;
	for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(function);
	     at != NULL; at = LLVMGetNextBasicBlock(at)) {
		if (LLVMIsATerminatorInst(llvm_first_write(at)) == NULL)
			add_successors(blocks, at);
	}
	add_reachable(blocks);
	return true;
}

bool llvm_find_after(struct llvm_blocks *blocks, LLVMBasicBlockRef block)
{
	if (!open_blocks(blocks, LLVMGetBasicBlockParent(block)))
		return false;
	add_successors(blocks, block);
	add_reachable(blocks);
	return true;
}

void llvm_blocks_release(struct llvm_blocks *blocks)
{
	free(blocks->items);
}
