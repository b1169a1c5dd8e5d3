/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <string.h>

#include "llvm/llvm_module.h"
#include "llvm/llvm_values.h"

/*
 * Runs LLVM's O3 at the end, so that a kernel in plain IR is not slower than with
 * O3 alone. Triton's IR has already been through O3, and accesses memory by inline
 * PTX in a deliberate order: it is not changed.
 */

static const char *const kept[] = { "optnone", "noinline" };

static bool is_effect(LLVMValueRef at)
{
	return llvm_called_assembly(at) != NULL &&
	       LLVMGetInlineAsmHasSideEffects(llvm_called_assembly(at));
}

static bool is_scheduled(LLVMValueRef function)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at)) {
			if (is_effect(at))
				return true;
		}
	}
	return false;
}

/* Exclude a function from the passes; marks tell what was added for that. */
static void keep_unoptimized(LLVMValueRef function)
{
	LLVMContextRef context =
		LLVMGetModuleContext(LLVMGetGlobalParent(function));

	for (size_t i = 0; i < TKB_COUNT_OF(kept); i++) {
		if (llvm_has_attribute(function, kept[i]))
			continue;
		LLVMAddAttributeAtIndex(function, llvm_function_index,
		                        llvm_make_attribute(context, kept[i]));
		llvm_add_mark(function, kept[i]);
	}
}

static void release(LLVMValueRef function)
{
	for (size_t i = 0; i < TKB_COUNT_OF(kept); i++) {
		if (!llvm_has_mark(function, kept[i]))
			continue;
		LLVMRemoveStringAttributeAtIndex(function, llvm_function_index,
		                                 kept[i],
		                                 (unsigned)strlen(kept[i]));
		LLVMRemoveEnumAttributeAtIndex(function, llvm_function_index,
		                               llvm_attribute_kind(kept[i]));
	}
}

int finalize_optimize(struct finalize *finalize, struct tkb_error *err)
{
	const size_t before = finalize_size(finalize->module);
	bool is_any_left = false;
	int rc = 0;

	for (LLVMValueRef at = LLVMGetFirstFunction(finalize->module);
	     at != NULL; at = LLVMGetNextFunction(at)) {
		if (LLVMIsDeclaration(at))
			continue;
		if (is_scheduled(at))
			keep_unoptimized(at);
		else
			is_any_left = true;
	}
	if (is_any_left)
		rc = finalize_run(finalize, "default<O3>", err);
	for (LLVMValueRef at = LLVMGetFirstFunction(finalize->module);
	     at != NULL; at = LLVMGetNextFunction(at))
		release(at);
	finalize_report_size(finalize, before);
	return rc;
}
