/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "llvm/llvm_values.h"

/* Removes traces of profiling from a module: metadata and counting calls. */

static bool counts_for_a_profile(LLVMValueRef instruction)
{
	static const char *const counters[] = { "llvm.instrprof.",
		                                "llvm.pseudoprobe" };

	return LLVMGetFirstUse(instruction) == NULL &&
	       llvm_calls_any(instruction, counters, TKB_COUNT_OF(counters));
}

static size_t strip_instructions(LLVMModuleRef module, unsigned profile)
{
	LLVMValueRef at = finalize_first(module);
	size_t count = 0;

	while (at != NULL) {
		LLVMValueRef next = finalize_next(at);

		if (LLVMGetMetadata(at, profile) != NULL) {
			LLVMSetMetadata(at, profile, NULL);
			count++;
		}
		if (counts_for_a_profile(at)) {
			LLVMInstructionEraseFromParent(at);
			count++;
		}
		at = next;
	}
	return count;
}

/* Remove the entry counts of functions. */
static size_t strip_functions(LLVMModuleRef module, unsigned profile)
{
	size_t count = 0;

	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		size_t size = 0;
		LLVMValueMetadataEntry *all =
			LLVMGlobalCopyAllMetadata(at, &size);

		for (unsigned i = 0; i < (unsigned)size; i++)
			count += LLVMValueMetadataEntriesGetKind(all, i) ==
			         profile;
		LLVMDisposeValueMetadataEntries(all);
		LLVMGlobalEraseMetadata(at, profile);
	}
	return count;
}

int finalize_strip(struct finalize *finalize, struct tkb_error *err)
{
	LLVMModuleRef module = finalize->module;
	const unsigned profile = LLVMGetMDKindIDInContext(
		LLVMGetModuleContext(module), "prof", strlen("prof"));
	const bool had_debug_data = LLVMStripModuleDebugInfo(module);
	size_t count = strip_instructions(module, profile);
	size_t used = 0;

	(void)err;
	count += strip_functions(module, profile);
	if (count != 0)
		used = (size_t)snprintf(finalize->report,
		                        sizeof(finalize->report),
		                        "%zu trace%s of a profile", count,
		                        count == 1 ? "" : "s");
	if (had_debug_data)
		(void)snprintf(finalize->report + used,
		               sizeof(finalize->report) - used, "%sdebug data",
		               used == 0 ? "" : ", ");
	return 0;
}
