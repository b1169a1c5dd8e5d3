/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm/llvm_module.h"

#include <string.h>

#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "worker/fail.h"
#include "llvm/llvm_handles.h"
#include "llvm/llvm_values.h"

void llvm_set_layout(LLVMModuleRef module, LLVMTargetMachineRef machine)
{
	AUTO_LLVM(LLVMTargetDataRef)
	data = LLVMCreateTargetDataLayout(machine);
	AUTO_LLVM_MESSAGE triple = LLVMGetTargetMachineTriple(machine);

	LLVMSetTarget(module, triple);
	LLVMSetModuleDataLayout(module, data);
}

enum {
	OPTIONS = 8
};

void llvm_set_options(const char *const *more, size_t count)
{
	const char *all[OPTIONS] = { "tkbundle-compile",
		                     "--enable-dse-partial-store-merging=0" };
	int used = 2;

	for (size_t i = 0; i < count && used < OPTIONS; i++)
		all[used++] = more[i];
	LLVMParseCommandLineOptions(used, all, NULL);
}

int llvm_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine,
                    const char *passes, struct tkb_error *err)
{
	AUTO_LLVM(LLVMPassBuilderOptionsRef)
	options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error;
	char *text;

	LLVMPassBuilderOptionsSetSLPVectorization(options, true);
	error = LLVMRunPasses(module, passes, machine, options);
	if (error == NULL)
		return 0;
	text = LLVMGetErrorMessage(error);
	(void)fail(err, TKB_ERR_INVALID, "LLVM: %s", text);
	LLVMDisposeErrorMessage(text);
	return TKB_ERR_INVALID;
}

void llvm_add_mark(LLVMValueRef function, const char *mark)
{
	LLVMContextRef context =
		LLVMGetModuleContext(LLVMGetGlobalParent(function));

	LLVMAddAttributeAtIndex(
		function, llvm_function_index,
		LLVMCreateStringAttribute(context, mark, (unsigned)strlen(mark),
	                                  "", 0));
}

bool llvm_has_mark(LLVMValueRef function, const char *mark)
{
	return LLVMGetStringAttributeAtIndex(function, llvm_function_index,
	                                     mark,
	                                     (unsigned)strlen(mark)) != NULL;
}
