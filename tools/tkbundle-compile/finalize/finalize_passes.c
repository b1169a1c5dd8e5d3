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

static bool is_any(LLVMValueRef at)
{
	(void)at;
	return true;
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
		found += is_it(at);
	return found;
}

size_t finalize_size(LLVMModuleRef module)
{
	return count_matching(module, is_any);
}

void finalize_report_size(struct finalize *finalize, size_t before)
{
	const size_t after = finalize_size(finalize->module);

	if (before != after)
		(void)snprintf(finalize->report, sizeof(finalize->report),
		               "%zu instructions, before %zu", after, before);
}

/* Run passes, and report the change in the number of instructions. */
static int run_counted(struct finalize *finalize, const char *passes,
                       struct tkb_error *err)
{
	const size_t before = finalize_size(finalize->module);
	const int rc = finalize_run(finalize, passes, err);

	finalize_report_size(finalize, before);
	return rc;
}

int finalize_resolve_calls(struct finalize *finalize, struct tkb_error *err)
{
	const size_t before = count_matching(finalize->module, is_indirect);
	size_t after;
	int rc;

	/* Without indirect calls the passes would only simplify other code. */
	if (before == 0)
		return 0;
	rc = finalize_run(finalize, "ipsccp,function(instsimplify)", err);
	after = count_matching(finalize->module, is_indirect);
	if (before > after)
		finalize_count(finalize, before - after, "call");
	return rc;
}

int finalize_inline(struct finalize *finalize, struct tkb_error *err)
{
	return run_counted(finalize, "always-inline,cgscc(inline),globaldce",
	                   err);
}

int finalize_propagate(struct finalize *finalize, struct tkb_error *err)
{
	return run_counted(finalize, "ipsccp,function(sccp)", err);
}

int finalize_peephole(struct finalize *finalize, struct tkb_error *err)
{
	return run_counted(finalize,
	                   "function(instcombine<no-verify-fixpoint>)", err);
}

int finalize_cse(struct finalize *finalize, struct tkb_error *err)
{
	return run_counted(finalize, "function(early-cse<memssa>)", err);
}

int finalize_dce(struct finalize *finalize, struct tkb_error *err)
{
	return run_counted(finalize, "function(adce),globaldce", err);
}

/* Replace loads of constants, including those of prepack and the rules. */
int finalize_fold(struct finalize *finalize, struct tkb_error *err)
{
	const size_t before = count_matching(finalize->module, is_load);
	size_t after;
	int rc;

	rc = finalize_run(finalize, "function(instsimplify,dce),globaldce",
	                  err);
	after = count_matching(finalize->module, is_load);
	if (before > after)
		finalize_count(finalize, before - after, "load");
	return rc;
}
