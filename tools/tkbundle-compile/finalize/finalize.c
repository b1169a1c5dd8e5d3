/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/Analysis.h>

#include "compile/compiler/steps.h"
#include "worker/fail.h"
#include "finalize/finalize_step.h"
#include "llvm/llvm_module.h"
#include "quant/quant.h"

/* What does a step: passes of LLVM's, or a function. */
static const struct {
	const char *passes;
	int (*run)(struct finalize *finalize, struct tkb_error *err);
} steps[TKB_STEP_COUNT] = {
	[TKB_STEP_STRIP].run = finalize_strip,
	[TKB_STEP_INTERNALIZE].run = finalize_internalize,
	[TKB_STEP_BIND].run = finalize_bind,
	[TKB_STEP_FOLD_GLOBALS].run = finalize_fold_globals,
	[TKB_STEP_RESOLVE_CALLS].run = finalize_resolve_calls,
	[TKB_STEP_INLINE].passes = "always-inline,cgscc(inline),globaldce",
	[TKB_STEP_PROPAGATE].passes = "ipsccp,function(sccp)",
	[TKB_STEP_PEEPHOLE].passes =
		"function(instcombine<no-verify-fixpoint>)",
	[TKB_STEP_CSE].passes = "function(early-cse<memssa>)",
	[TKB_STEP_DCE].passes = "function(adce),globaldce",
	[TKB_STEP_UNROLL].run = finalize_unroll,
	[TKB_STEP_SPLIT].run = finalize_split,
	[TKB_STEP_READ].run = finalize_read,
	[TKB_STEP_GATHER].run = finalize_gather,
	[TKB_STEP_FUSE].run = finalize_fuse,
	[TKB_STEP_PREPACK].run = finalize_prepack,
	[TKB_STEP_FOLD].run = finalize_fold,
	[TKB_STEP_OPTIMIZE].run = finalize_optimize,
	[TKB_STEP_HOIST].run = finalize_hoist,
	[TKB_STEP_VERIFY].run = finalize_verify,
};

void finalize_count(struct finalize *finalize, size_t count, const char *what)
{
	if (count != 0)
		(void)snprintf(finalize->report, sizeof(finalize->report),
		               "%zu %s%s", count, what, count == 1 ? "" : "s");
}

/* The first instruction of `function`, or of the next one that has any. */
static LLVMValueRef first_from(LLVMValueRef function)
{
	for (; function != NULL; function = LLVMGetNextFunction(function)) {
		if (!LLVMIsDeclaration(function))
			return LLVMGetFirstInstruction(
				LLVMGetEntryBasicBlock(function));
	}
	return NULL;
}

LLVMValueRef finalize_first(LLVMModuleRef module)
{
	return first_from(LLVMGetFirstFunction(module));
}

LLVMValueRef finalize_next(LLVMValueRef instruction)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
	LLVMValueRef function = LLVMGetBasicBlockParent(block);
	LLVMValueRef next = LLVMGetNextInstruction(instruction);

	if (next != NULL)
		return next;
	block = LLVMGetNextBasicBlock(block);
	return block != NULL ? LLVMGetFirstInstruction(block)
	                     : first_from(LLVMGetNextFunction(function));
}

static int choose_steps(const struct finalize_request *request,
                        bool is_wanted[TKB_STEP_COUNT], struct tkb_error *err)
{
	enum tkb_step step;
	int rc;

	for (size_t i = 0; i < TKB_STEP_COUNT; i++)
		is_wanted[i] = quant_has_step(request->quant, (enum tkb_step)i);
	for (size_t i = 0; i < request->without.count; i++) {
		rc = tkb_step_find(request->without.items[i], &step, err);
		if (rc < 0)
			return rc;
		is_wanted[step] = false;
	}
	/* A copy that is split waits for memory, unless its load is issued early. */
	is_wanted[TKB_STEP_SPLIT] &= is_wanted[TKB_STEP_HOIST];
	if (request->bindings.count != 0 && !is_wanted[TKB_STEP_BIND])
		return fail(err, TKB_ERR_INVALID,
		            "the step 'bind' cannot be skipped when "
		            "arguments are bound");
	return 0;
}

static int verify_after(const struct finalize *finalize, const char *step,
                        struct tkb_error *err)
{
	AUTO_LLVM_MESSAGE message = NULL;

	if (!LLVMVerifyModule(finalize->module, LLVMReturnStatusAction,
	                      &message))
		return 0;
	return fail(err, TKB_ERR_INVALID,
	            "finalize: '%s' made an invalid module: %s", step, message);
}

int finalize_verify(struct finalize *finalize, struct tkb_error *err)
{
	return verify_after(finalize, "verify", err);
}

static int log_report(const struct finalize *finalize, const char *step,
                      struct tkb_error *err)
{
	const struct tkb_sink *log = finalize->log;
	char line[256];

	if (log == NULL || log->write == NULL || finalize->report[0] == '\0')
		return 0;
	(void)snprintf(line, sizeof(line), "%s: %s\n", step, finalize->report);
	return log->write(log->self, (struct tkb_bytes){ line, strlen(line) },
	                  err);
}

/* Unbuffered, to standard error, where LLVM prints passes between our lines. */
static void print_module(const struct finalize *finalize, const char *when,
                         const char *step)
{
	AUTO_LLVM_MESSAGE text = NULL;
	const bool has_report = finalize->report[0] != '\0';

	if (!finalize->request->is_printed)
		return;
	text = LLVMPrintModuleToString(finalize->module);
	(void)fprintf(stderr, "; *** IR Dump %s finalize's %s%s%s ***\n%s",
	              when, step, has_report ? ": " : "", finalize->report,
	              text);
}

static int run_step(struct finalize *finalize, enum tkb_step step,
                    bool is_verified, struct tkb_error *err)
{
	const char *name = tkb_finalize_step_name(step);
	int rc;

	finalize->report[0] = '\0';
	print_module(finalize, "Before", name);
	rc = steps[step].passes != NULL
	             ? finalize_run_counted(finalize, steps[step].passes, err)
	             : steps[step].run(finalize, err);
	if (rc == 0)
		print_module(finalize, "After", name);
	if (rc == 0 && is_verified)
		rc = verify_after(finalize, name, err);
	return rc == 0 ? log_report(finalize, name, err) : rc;
}

int finalize_module(LLVMModuleRef module, LLVMTargetMachineRef machine,
                    const struct finalize_request *request,
                    const struct tkb_sink *log, struct tkb_error *err)
{
	struct finalize finalize = {
		.module = module,
		.machine = machine,
		.request = request,
		.log = log,
	};
	bool is_wanted[TKB_STEP_COUNT];
	int rc;

	rc = choose_steps(request, is_wanted, err);
	if (rc < 0)
		return rc;
	/* Constants must have the layout that the machine's code expects. */
	if (machine != NULL)
		llvm_set_layout(module, machine);
	if (!request->is_fast || request->bindings.count != 0)
		finalize_contract(&finalize);
	for (size_t i = 0; i < TKB_STEP_COUNT && rc == 0; i++) {
		if (i == TKB_STEP_UNROLL)
			rc = finalize_check_quant(&finalize, err);
		if (rc == 0 && is_wanted[i])
			rc = run_step(&finalize, (enum tkb_step)i,
			              is_wanted[TKB_STEP_VERIFY], err);
		if (rc == 0 && i == TKB_STEP_FUSE)
			rc = finalize_check_quant_done(&finalize, err);
	}
	return rc;
}
