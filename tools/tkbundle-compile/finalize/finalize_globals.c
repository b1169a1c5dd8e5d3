/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include "finalize/finalize_external.h"
#include "finalize/finalize_uses.h"

/*
 * Marks globals that nothing writes as constant. This can be known only for
 * internal globals, since a host finds all others with cuModuleGetGlobal().
 */

/* True for memory that keeps the initializer from launch to launch. */
static bool has_memory_of_its_own(LLVMValueRef global)
{
	enum {
		GENERIC = 0,
		GLOBAL = 1,
		CONSTANT = 4
	};
	const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));

	return space == GENERIC || space == GLOBAL || space == CONSTANT;
}

static bool is_constant_unsaid(LLVMModuleRef module, LLVMValueRef global)
{
	return !LLVMIsGlobalConstant(global) &&
	       LLVMGetInitializer(global) != NULL &&
	       finalize_is_internal(global) && !LLVMIsThreadLocal(global) &&
	       has_memory_of_its_own(global) &&
	       !finalize_is_used_externally(module, global) &&
	       finalize_is_only_read(global);
}

int finalize_fold_globals(struct finalize *finalize, struct tkb_error *err)
{
	size_t count = 0;

	(void)err;
	for (LLVMValueRef at = LLVMGetFirstGlobal(finalize->module); at != NULL;
	     at = LLVMGetNextGlobal(at)) {
		if (!is_constant_unsaid(finalize->module, at))
			continue;
		LLVMSetGlobalConstant(at, true);
		count++;
	}
	finalize_count(finalize, count, "global");
	return 0;
}
