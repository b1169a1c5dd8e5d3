/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <llvm-c/Comdat.h>

#include "worker/fail.h"
#include "finalize/finalize_external.h"
#include "llvm/llvm_values.h"

/*
 * Makes everything internal, so that it can be changed and removed, except the
 * kernels to keep and values that the module declares as used from outside.
 */

static int check_kernel_names(const struct finalize *finalize,
                              struct tkb_error *err)
{
	const struct texts *kernels = &finalize->request->kernels;

	for (size_t i = 0; i < kernels->count; i++) {
		LLVMValueRef found = LLVMGetNamedFunction(finalize->module,
		                                          kernels->items[i]);

		if (found == NULL || !finalize_is_kernel(found))
			return fail(err, TKB_ERR_INVALID,
			            "the IR has no kernel '%s' to be kept",
			            kernels->items[i]);
	}
	return 0;
}

bool finalize_keeps(const struct finalize *finalize, LLVMValueRef kernel)
{
	const struct texts *kernels = &finalize->request->kernels;
	return kernels->count == 0 ||
	       tkb_is_among(llvm_name(kernel), kernels->items, kernels->count);
}

static bool is_kept(const struct finalize *finalize, LLVMValueRef value)
{
	return (LLVMIsAFunction(value) != NULL && finalize_is_kernel(value) &&
	        finalize_keeps(finalize, value)) ||
	       finalize_is_used_externally(finalize->module, value);
}

static size_t make_internal(const struct finalize *finalize, LLVMValueRef value)
{
	if (LLVMIsDeclaration(value) || finalize_is_internal(value) ||
	    LLVMGetLinkage(value) == LLVMAvailableExternallyLinkage ||
	    is_kept(finalize, value))
		return 0;
	LLVMSetLinkage(value, LLVMInternalLinkage);
	if (LLVMIsAGlobalObject(value) != NULL)
		LLVMSetComdat(value, NULL);
	return 1;
}

int finalize_internalize(struct finalize *finalize, struct tkb_error *err)
{
	LLVMModuleRef module = finalize->module;
	size_t count = 0;
	const int rc = check_kernel_names(finalize, err);

	if (rc < 0)
		return rc;
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at))
		count += make_internal(finalize, at);
	for (LLVMValueRef at = LLVMGetFirstGlobal(module); at != NULL;
	     at = LLVMGetNextGlobal(at))
		count += make_internal(finalize, at);
	for (LLVMValueRef at = LLVMGetFirstGlobalAlias(module); at != NULL;
	     at = LLVMGetNextGlobalAlias(at))
		count += make_internal(finalize, at);
	finalize_count(finalize, count, "name");
	return 0;
}
