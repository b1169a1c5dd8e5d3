/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir_internal.h"

#include <string.h>

#include "llvm/llvm_module.h"
#include "llvm/llvm_values.h"

static void allow_fusion(LLVMValueRef instruction)
{
	if (LLVMCanValueUseFastMathFlags(instruction))
		LLVMSetFastMathFlags(instruction,
		                     LLVMGetFastMathFlags(instruction) |
		                             LLVMFastMathAllowContract);
}

/* Insert a trap before an unreachable instruction. */
static void add_trap(LLVMModuleRef module, LLVMValueRef unreachable)
{
	static const char name[] = "llvm.trap";
	const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef trap = LLVMGetIntrinsicDeclaration(module, id, NULL, 0);
	LLVMTypeRef type = LLVMIntrinsicGetType(context, id, NULL, 0);
	AUTO_LLVM(LLVMBuilderRef) builder = llvm_builder_before(unreachable);

	(void)LLVMBuildCall2(builder, type, trap, NULL, 0, "");
}

/* May this be fused? Not a product, if finalize has fused the function. */
static bool may_be_fused(LLVMValueRef at, bool is_contracted)
{
	return !is_contracted || LLVMGetInstructionOpcode(at) != LLVMFMul;
}

static void prepare_block(LLVMModuleRef module, LLVMBasicBlockRef block,
                          bool is_fusion_off, bool is_contracted)
{
	LLVMValueRef last = LLVMGetBasicBlockTerminator(block);

	for (LLVMValueRef at = LLVMGetFirstInstruction(block);
	     at != NULL && !is_fusion_off; at = LLVMGetNextInstruction(at)) {
		if (may_be_fused(at, is_contracted))
			allow_fusion(at);
	}
	if (LLVMIsAUnreachableInst(last))
		add_trap(module, last);
}

void ir_prepare(LLVMModuleRef module, bool is_fusion_off)
{
	for (LLVMValueRef function = LLVMGetFirstFunction(module);
	     function != NULL; function = LLVMGetNextFunction(function)) {
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
		     block != NULL; block = LLVMGetNextBasicBlock(block))
			prepare_block(module, block, is_fusion_off,
			              llvm_has_mark(function, LLVM_CONTRACTED));
	}
}
