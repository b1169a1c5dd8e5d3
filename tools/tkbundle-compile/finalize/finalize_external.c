/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_external.h"

#include <stdlib.h>

#include "llvm/llvm_values.h"

enum {
	PTX_KERNEL = 71 /* LLVM's number for this calling convention */
};

bool finalize_is_kernel(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) &&
	       LLVMGetFunctionCallConv(function) == PTX_KERNEL;
}

bool finalize_is_internal(LLVMValueRef value)
{
	const LLVMLinkage linkage = LLVMGetLinkage(value);

	return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static LLVMValueRef without_casts(LLVMValueRef value)
{
	while (LLVMIsAConstantExpr(value) != NULL)
		value = LLVMGetOperand(value, 0);
	return value;
}

/* Is the value in a list of values that must be kept? */
static bool is_listed(LLVMModuleRef module, const char *list,
                      LLVMValueRef value)
{
	LLVMValueRef global = LLVMGetNamedGlobal(module, list);
	LLVMValueRef items = global == NULL ? NULL : LLVMGetInitializer(global);
	const int count = items == NULL ? 0 : LLVMGetNumOperands(items);

	for (unsigned i = 0; i < (unsigned)count; i++) {
		if (without_casts(LLVMGetOperand(items, i)) == value)
			return true;
	}
	return false;
}

static bool is_first_of(LLVMValueRef node, LLVMValueRef value)
{
	const unsigned count = LLVMGetMDNodeNumOperands(node);
	LLVMValueRef *items = count == 0 ? NULL : calloc(count, sizeof(*items));
	bool is_first;

	if (items == NULL)
		return count != 0; /* if out of memory, give the safe answer */
	LLVMGetMDNodeOperands(node, items);
	is_first = items[0] == value;
	free(items);
	return is_first;
}

static bool is_annotated(LLVMModuleRef module, LLVMValueRef value)
{
	static const char name[] = "nvvm.annotations";
	const unsigned count = LLVMGetNamedMetadataNumOperands(module, name);
	LLVMValueRef *nodes = count == 0 ? NULL : calloc(count, sizeof(*nodes));
	bool is_there = count != 0 && nodes == NULL;

	if (nodes == NULL)
		return is_there;
	LLVMGetNamedMetadataOperands(module, name, nodes);
	for (unsigned i = 0; i < count && !is_there; i++)
		is_there = is_first_of(nodes[i], value);
	free(nodes);
	return is_there;
}

bool finalize_is_used_externally(LLVMModuleRef module, LLVMValueRef value)
{
	if (tkb_begins_with(llvm_name(value), "llvm.") ||
	    is_listed(module, "llvm.used", value) ||
	    is_listed(module, "llvm.compiler.used", value))
		return true;
	/* Annotations of functions are only descriptions. */
	return LLVMIsAGlobalVariable(value) != NULL &&
	       (LLVMIsExternallyInitialized(value) ||
	        is_annotated(module, value));
}
