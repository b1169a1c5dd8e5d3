/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <string.h>

#include "llvm/llvm_module.h"
#include "llvm/llvm_values.h"

/*
 * Code generation fuses a product and a sum of one block into a single
 * operation, which rounds only once. Which products it chooses depends on the
 * blocks: after loops are unrolled, it may fuse the other product of a*a + b*b.
 * So this runs first and fuses what code generation would fuse, and nothing is
 * fused later: the finalized kernel rounds where the original does.
 */

static bool is_fused(const struct finalize *finalize, LLVMValueRef value)
{
	return !finalize->request->is_fusion_off ||
	       (LLVMGetFastMathFlags(value) & LLVMFastMathAllowContract) != 0;
}

/* Does code generation split this vector, which the GPU cannot compute with? */
static bool is_taken_apart(const struct finalize *finalize, LLVMTypeRef vector)
{
	enum {
		HAS_PAIRS = 100 /* pairs of 32 bits, from sm_100 on */
	};
	const LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetElementType(vector));

	return kind == LLVMDoubleTypeKind ||
	       (kind == LLVMFloatTypeKind &&
	        finalize_arch(finalize->machine) < HAS_PAIRS);
}

/* Is the value one lane of a vector, or its lanes in another order? */
static bool is_rearranged(LLVMValueRef value)
{
	unsigned count;

	if (LLVMIsAExtractElementInst(value) != NULL)
		return LLVMIsAConstantInt(LLVMGetOperand(value, 1)) != NULL;
	if (LLVMIsAShuffleVectorInst(value) == NULL)
		return false;
	count = llvm_lane_count(LLVMTypeOf(LLVMGetOperand(value, 0)));
	for (unsigned i = 0; i < LLVMGetNumMaskElements(value); i++) {
		const int lane = LLVMGetMaskValue(value, i);

		if (lane != LLVMGetUndefMaskElem() && lane >= (int)count)
			return false;
	}
	return true;
}

/* The product, or the vector of products whose lanes `value` takes, or NULL. */
static LLVMValueRef product_of(const struct finalize *finalize,
                               LLVMValueRef value)
{
	if (is_rearranged(value)) {
		value = LLVMGetOperand(value, 0);
		if (!is_taken_apart(finalize, LLVMTypeOf(value)))
			return NULL;
	}
	return llvm_opcode(value) == LLVMFMul ? value : NULL;
}

/* Is the value a product of the same block that may be fused with `sum`? */
static bool is_product(const struct finalize *finalize, LLVMValueRef value,
                       LLVMValueRef sum)
{
	LLVMValueRef product = product_of(finalize, value);

	return product != NULL &&
	       LLVMGetInstructionParent(product) ==
	               LLVMGetInstructionParent(sum) &&
	       is_fused(finalize, product);
}

static unsigned count_uses(LLVMValueRef value)
{
	unsigned count = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL;
	     use = LLVMGetNextUse(use))
		count++;
	return count;
}

/* The operand to fuse: the product with fewer uses, or the first; -1: none. */
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

/* A factor of a product, or the factors of products taken from a vector. */
static LLVMValueRef factor(LLVMBuilderRef builder, LLVMValueRef product,
                           unsigned which)
{
	LLVMValueRef vector;
	LLVMValueRef made;

	if (llvm_opcode(product) == LLVMFMul)
		return LLVMGetOperand(product, which);
	vector = LLVMGetOperand(product, 0);
	made = LLVMInstructionClone(product);
	LLVMInsertIntoBuilder(builder, made);
	LLVMSetOperand(made, 0, LLVMGetOperand(vector, which));
	return made;
}

static LLVMValueRef build_fused(LLVMModuleRef module, LLVMBuilderRef builder,
                                LLVMValueRef sum, int which)
{
	static const char name[] = "llvm.fma";
	LLVMTypeRef type = LLVMTypeOf(sum);
	LLVMValueRef product = LLVMGetOperand(sum, (unsigned)which);
	LLVMValueRef operands[] = { factor(builder, product, 0),
		                    factor(builder, product, 1),
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

/*
 * Take the flag "contract" from a product: nothing fuses it then. Sums keep it:
 * ptxas may fuse them with products of its own, for example from a division by a
 * constant, as it does in the original.
 */
static void forbid(LLVMValueRef value)
{
	if (LLVMGetInstructionOpcode(value) == LLVMFMul)
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

/* What was found in a module. */
struct found {
	bool has_products;
	bool has_sums;
};

/* Fuse the products of a function, and forbid any other fusion. */
static void contract_function(const struct finalize *finalize,
                              LLVMBuilderRef builder, LLVMValueRef function,
                              struct found *found)
{
	LLVMValueRef next;

	if (llvm_has_mark(function, LLVM_CONTRACTED))
		return;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = next) {
			next = LLVMGetNextInstruction(at);
			found->has_products |= llvm_opcode(at) == LLVMFMul;
			found->has_sums |= is_sum(at);
			if (is_sum(at))
				fuse(finalize, builder, at);
		}
		/* Only now: fuse() reads the flags of products. */
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at))
			forbid(at);
	}
}

/* With products and sums, mark all functions: they may be inlined into one. */
void finalize_contract(const struct finalize *finalize)
{
	AUTO_LLVM(LLVMBuilderRef)
	builder = LLVMCreateBuilderInContext(
		LLVMGetModuleContext(finalize->module));
	LLVMValueRef first = LLVMGetFirstFunction(finalize->module);
	struct found found = { false, false };

	for (LLVMValueRef at = first; at != NULL; at = LLVMGetNextFunction(at))
		contract_function(finalize, builder, at, &found);
	for (LLVMValueRef at = first;
	     at != NULL && found.has_products && found.has_sums;
	     at = LLVMGetNextFunction(at)) {
		if (!LLVMIsDeclaration(at))
			llvm_add_mark(at, LLVM_CONTRACTED);
	}
}
