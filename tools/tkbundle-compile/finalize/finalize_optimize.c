/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <string.h>

/*
 * Runs LLVM's O3 at the end, so that a kernel in plain IR is not slower than with
 * O3 alone. Triton's IR has already been through O3, and accesses memory by inline
 * PTX in a deliberate order: it is not changed.
 */

static const char *const kept[] = { "optnone", "noinline" };

static bool has_attribute(LLVMValueRef function, const char *name)
{
	return LLVMGetEnumAttributeAtIndex(
		       function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		       LLVMGetEnumAttributeKindForName(name, strlen(name))) !=
	       NULL;
}

static bool is_effect(LLVMValueRef at)
{
	return LLVMIsACallInst(at) != NULL &&
	       LLVMIsAInlineAsm(LLVMGetCalledValue(at)) != NULL &&
	       LLVMGetInlineAsmHasSideEffects(LLVMGetCalledValue(at));
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

static void add(LLVMValueRef function, const char *name)
{
	LLVMContextRef context =
		LLVMGetModuleContext(LLVMGetGlobalParent(function));

	LLVMAddAttributeAtIndex(
		function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		LLVMCreateEnumAttribute(
			context,
			LLVMGetEnumAttributeKindForName(name, strlen(name)),
			0));
}

static const char mark[] = "tkb.added";

/*
 * Exclude a function from the passes; `mark` marks the attributes added for
 * that.
 */
static void keep_unoptimized(LLVMValueRef function)
{
	LLVMContextRef context =
		LLVMGetModuleContext(LLVMGetGlobalParent(function));

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		if (has_attribute(function, kept[i]))
			continue;
		add(function, kept[i]);
		LLVMAddAttributeAtIndex(
			function,
			(LLVMAttributeIndex)LLVMAttributeFunctionIndex,
			LLVMCreateStringAttribute(
				context, kept[i], (unsigned)strlen(kept[i]),
				mark, (unsigned)strlen(mark)));
	}
}

static void release(LLVMValueRef function)
{
	const LLVMAttributeIndex at =
		(LLVMAttributeIndex)LLVMAttributeFunctionIndex;

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		const unsigned size = (unsigned)strlen(kept[i]);

		if (LLVMGetStringAttributeAtIndex(function, at, kept[i],
		                                  size) == NULL)
			continue;
		LLVMRemoveStringAttributeAtIndex(function, at, kept[i], size);
		LLVMRemoveEnumAttributeAtIndex(
			function, at,
			LLVMGetEnumAttributeKindForName(kept[i], size));
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
