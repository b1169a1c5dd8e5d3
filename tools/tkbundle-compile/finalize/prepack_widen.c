/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack.h"

#include "llvm/llvm_values.h"

bool prepack_is_harmless(LLVMValueRef instruction)
{
	LLVMValueRef callee = llvm_called_function(instruction);

	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
		return llvm_is_plain(instruction);
	case LLVMCall:
		return callee != NULL && llvm_only_computes(callee);
	case LLVMStore:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMVAArg:
		return false;
	default: /* other instructions inside a block do not write, and
	            complete */
		return true;
	}
}

/* The lanes are adjacent, and the first is a multiple of four. */
static bool is_aligned_word(const struct prepack_word *word)
{
	if (word->lanes[0] == NULL || !word->has_offsets ||
	    LLVMGetAlignment(word->lanes[0]) < 4)
		return false;
	for (int i = 1; i < PREPACK_LANES; i++) {
		if (word->offsets[i] != word->offsets[0] + i)
			return false;
	}
	return true;
}

static bool is_lane(const struct prepack_word *word, LLVMValueRef value)
{
	bool is_it = false;

	for (int i = 0; i < PREPACK_LANES; i++)
		is_it = is_it || word->lanes[i] == value;
	return is_it;
}

/* The last lane, if all lanes follow `first` and see the same memory. */
static LLVMValueRef last_lane_from(const struct prepack_word *word,
                                   LLVMValueRef first)
{
	int seen = 0;

	for (LLVMValueRef at = first; at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		if (is_lane(word, at) && ++seen == PREPACK_LANES)
			return at;
		if (!prepack_is_harmless(at))
			return NULL;
	}
	return NULL;
}

/*
 * The last lane, if all are in one block and see the same memory. The other
 * lanes are loaded before it, so the address of the first is known there.
 */
static LLVMValueRef last_lane(const struct prepack_word *word)
{
	LLVMValueRef last = NULL;

	for (int i = 0; i < PREPACK_LANES && last == NULL; i++)
		last = last_lane_from(word, word->lanes[i]);
	return last;
}

/* Keep the mark of invariant loads, which can be faster. */
static void keep_invariance(const struct prepack_word *word,
                            LLVMContextRef context, LLVMValueRef load)
{
	static const char name[] = "invariant.load";
	const unsigned kind =
		LLVMGetMDKindIDInContext(context, name, sizeof(name) - 1);

	for (int i = 0; i < PREPACK_LANES; i++) {
		if (LLVMGetMetadata(word->lanes[i], kind) == NULL)
			return;
	}
	LLVMSetMetadata(load, kind, LLVMGetMetadata(word->lanes[0], kind));
}

static void widen_word(struct prepack *prepack, struct prepack_word *word,
                       LLVMValueRef at)
{
	LLVMContextRef context =
		LLVMGetModuleContext(prepack->finalize->module);
	AUTO_LLVM(LLVMBuilderRef) builder = llvm_builder_before(at);
	LLVMValueRef load;

	load = LLVMBuildLoad2(builder, LLVMTypeOf(word->word),
	                      LLVMGetOperand(word->lanes[0], 0), "");
	LLVMSetAlignment(load, LLVMGetAlignment(word->lanes[0]));
	keep_invariance(word, context, load);

	LLVMReplaceAllUsesWith(word->word, load);
	word->is_done = true;
	prepack->widened_count++;
}

LLVMValueRef prepack_widen_at(const struct prepack_word *word)
{
	return is_aligned_word(word) ? last_lane(word) : NULL;
}

void prepack_widen(struct prepack *prepack)
{
	for (size_t i = 0; i < prepack->count; i++) {
		struct prepack_word *word = &prepack->words[i];
		LLVMValueRef last;

		last = word->is_done ? NULL : prepack_widen_at(word);
		if (last != NULL)
			widen_word(prepack, word, last);
	}
}
