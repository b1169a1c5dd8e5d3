/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <stdio.h>

#include "llvm/llvm_module.h"

/* Steps that run LLVM's own passes. */

int finalize_run(struct finalize *finalize, const char *passes,
                 struct tkb_error *err)
{
	return llvm_run_passes(finalize->module, finalize->machine, passes,
	                       err);
}

static bool is_indirect(LLVMValueRef at)
{
	LLVMValueRef callee;

	if (LLVMGetInstructionOpcode(at) != LLVMCall)
		return false;
	callee = LLVMGetCalledValue(at);
	return LLVMIsAFunction(callee) == NULL &&
	       LLVMIsAInlineAsm(callee) == NULL;
}

static bool is_load(LLVMValueRef at)
{
	return LLVMGetInstructionOpcode(at) == LLVMLoad;
}

static size_t count_matching(LLVMModuleRef module, bool (*is_it)(LLVMValueRef))
{
	size_t found = 0;

	for (LLVMValueRef at = finalize_first(module); at != NULL;
	     at = finalize_next(at))
		found += is_it == NULL || is_it(at);
	return found;
}

size_t finalize_size(LLVMModuleRef module)
{
	return count_matching(module, NULL);
}

void finalize_report_size(struct finalize *finalize, size_t before)
{
	const size_t after = finalize_size(finalize->module);

	if (before != after)
		(void)snprintf(finalize->report, sizeof(finalize->report),
		               "%zu instructions, before %zu", after, before);
}

int finalize_run_counted(struct finalize *finalize, const char *passes,
                         struct tkb_error *err)
{
	const size_t before = finalize_size(finalize->module);
	const int rc = finalize_run(finalize, passes, err);

	finalize_report_size(finalize, before);
	return rc;
}

/* Run passes, and report how many instructions of a kind they removed. */
static int run_removing(struct finalize *finalize, const char *passes,
                        bool (*is_it)(LLVMValueRef), const char *what,
                        struct tkb_error *err)
{
	const size_t before = count_matching(finalize->module, is_it);
	const int rc = finalize_run(finalize, passes, err);
	const size_t after = count_matching(finalize->module, is_it);

	if (before > after)
		finalize_count(finalize, before - after, what);
	return rc;
}

int finalize_resolve_calls(struct finalize *finalize, struct tkb_error *err)
{
	/* Without indirect calls the passes would only simplify other code. */
	return count_matching(finalize->module, is_indirect) == 0
	               ? 0
	               : run_removing(finalize, "ipsccp,function(instsimplify)",
	                              is_indirect, "call", err);
}

/* Replace loads of constants, including those of prepack and the rules. */
int finalize_fold(struct finalize *finalize, struct tkb_error *err)
{
	return run_removing(finalize, "function(instsimplify,dce),globaldce",
	                    is_load, "load", err);
}
