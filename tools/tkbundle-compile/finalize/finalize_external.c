/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_external.h"

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

/* If out of memory, the next two give the safe answer. */
static bool is_first_of(LLVMValueRef node, LLVMValueRef value)
{
	TKB_AUTO(tkb_free_at)
	LLVMValueRef *items =
		tkb_alloc_array(LLVMGetMDNodeNumOperands(node), sizeof(*items));

	if (items != NULL)
		LLVMGetMDNodeOperands(node, items);
	return items == NULL || items[0] == value;
}

static bool is_annotated(LLVMModuleRef module, LLVMValueRef value)
{
	static const char name[] = "nvvm.annotations";
	const unsigned count = LLVMGetNamedMetadataNumOperands(module, name);
	TKB_AUTO(tkb_free_at)
	LLVMValueRef *nodes = tkb_alloc_array(count, sizeof(*nodes));
	bool is_there = nodes == NULL;

	if (nodes != NULL)
		LLVMGetNamedMetadataOperands(module, name, nodes);
	for (unsigned i = 0; i < count && !is_there; i++)
		is_there = is_first_of(nodes[i], value);
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
