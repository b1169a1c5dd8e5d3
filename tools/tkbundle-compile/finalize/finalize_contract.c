/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <string.h>

#include "llvm/llvm_module.h"

/*
 * Code generation makes one fused operation of a product and a sum of the same
 * block, and rounds once. Which ones it takes depends on the blocks: after loops
 * are unrolled, a*a + b*b may be fused the other way around. So they are fused
 * before anything is bound, as code generation would fuse them, and no others
 * afterwards: the bound kernel rounds where the unbound one does.
 */

static bool is_fused(const struct finalize *finalize, LLVMValueRef value)
{
	return !finalize->request->is_fusion_off ||
	       (LLVMGetFastMathFlags(value) & LLVMFastMathAllowContract) != 0;
}

/* A product of the same block that may be fused with `sum`. */
static bool is_product(const struct finalize *finalize, LLVMValueRef value,
                       LLVMValueRef sum)
{
	return LLVMIsAInstruction(value) != NULL &&
	       LLVMGetInstructionOpcode(value) == LLVMFMul &&
	       LLVMGetInstructionParent(value) ==
	               LLVMGetInstructionParent(sum) &&
	       is_fused(finalize, value);
}

static unsigned count_uses(LLVMValueRef value)
{
	unsigned count = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL;
	     use = LLVMGetNextUse(use))
		count++;
	return count;
}

/* Which operand is fused: the product with fewer uses, else the first; -1: none. */
static int choose_product(const struct finalize *finalize, LLVMValueRef sum)
{
	LLVMValueRef a = LLVMGetOperand(sum, 0);
	LLVMValueRef b = LLVMGetOperand(sum, 1);
	const bool is_a = is_product(finalize, a, sum);
	const bool is_b = is_product(finalize, b, sum);

	if (is_a && is_b)
		return count_uses(a) > count_uses(b);
	return is_a ? 0 : is_b ? 1 : -1;
}

static LLVMValueRef build_fused(LLVMModuleRef module, LLVMBuilderRef builder,
                                LLVMValueRef sum, int which)
{
	static const char name[] = "llvm.fma";
	LLVMTypeRef type = LLVMTypeOf(sum);
	LLVMValueRef product = LLVMGetOperand(sum, (unsigned)which);
	LLVMValueRef operands[] = { LLVMGetOperand(product, 0),
		                    LLVMGetOperand(product, 1),
		                    LLVMGetOperand(sum, 1 - (unsigned)which) };
	LLVMValueRef function = LLVMGetIntrinsicDeclaration(
		module, LLVMLookupIntrinsicID(name, sizeof(name) - 1), &type,
		1);

	if (LLVMGetInstructionOpcode(sum) == LLVMFSub)
		operands[which == 0 ? 2 : 0] = LLVMBuildFNeg(
			builder, operands[which == 0 ? 2 : 0], "");
	return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function),
	                      function, operands, 3, "");
}

static void forbid(LLVMValueRef value)
{
	if (LLVMCanValueUseFastMathFlags(value))
		LLVMSetFastMathFlags(
			value,
			LLVMGetFastMathFlags(value) &
				~(LLVMFastMathFlags)LLVMFastMathAllowContract);
}

static bool is_sum(LLVMValueRef value)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);

	return opcode == LLVMFAdd || opcode == LLVMFSub;
}

static void fuse(const struct finalize *finalize, LLVMBuilderRef builder,
                 LLVMValueRef sum)
{
	const int which =
		is_fused(finalize, sum) ? choose_product(finalize, sum) : -1;
	LLVMValueRef made;

	if (which < 0)
		return;
	LLVMPositionBuilderBefore(builder, sum);
	made = build_fused(finalize->module, builder, sum, which);
	LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(sum));
	LLVMReplaceAllUsesWith(sum, made);
	LLVMInstructionEraseFromParent(sum);
}

/* Fuse what is in the function, and let nothing else be. */
static void contract(const struct finalize *finalize, LLVMBuilderRef builder,
                     LLVMValueRef function)
{
	LLVMValueRef next;
	bool has_sums = false;

	if (llvm_is_contracted(function))
		return;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = next) {
			next = LLVMGetNextInstruction(at);
			has_sums |= is_sum(at);
			if (is_sum(at))
				fuse(finalize, builder, at);
		}
		/* Products are needed with their flags until here. */
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at))
			forbid(at);
	}
	if (has_sums)
		llvm_mark_contracted(function);
}

void finalize_contract(const struct finalize *finalize)
{
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(
		LLVMGetModuleContext(finalize->module));

	for (LLVMValueRef at = LLVMGetFirstFunction(finalize->module);
	     at != NULL; at = LLVMGetNextFunction(at))
		contract(finalize, builder, at);
	LLVMDisposeBuilder(builder);
}
