/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <llvm-c/Analysis.h>

#include "finalize/finalize_step.h"

/* A module that is wrong is made smaller, as long as it stays wrong. */

static size_t count(LLVMModuleRef module)
{
	size_t found = 0;

	for (LLVMValueRef at = finalize_first(module); at != NULL;
	     at = finalize_next(at))
		found++;
	return found;
}

static LLVMValueRef instruction(LLVMModuleRef module, size_t number)
{
	LLVMValueRef at = finalize_first(module);

	while (number-- > 0)
		at = finalize_next(at);
	return at;
}

/* An operand of the same type, or a constant. */
static LLVMValueRef stand_in(LLVMValueRef at, unsigned way)
{
	LLVMTypeRef type = LLVMTypeOf(at);

	if (way == 0)
		return LLVMConstNull(type);
	for (int i = 0; i < LLVMGetNumOperands(at); i++) {
		LLVMValueRef operand = LLVMGetOperand(at, (unsigned)i);

		if (LLVMTypeOf(operand) == type && operand != at)
			return operand;
	}
	return NULL;
}

/* Take an instruction out. */
static bool remove_one(LLVMModuleRef module, size_t number, unsigned way)
{
	LLVMValueRef at = instruction(module, number);
	LLVMValueRef other;

	if (LLVMIsATerminatorInst(at) != NULL)
		return false;
	if (LLVMGetTypeKind(LLVMTypeOf(at)) == LLVMVoidTypeKind) {
		if (way != 0)
			return false;
		LLVMInstructionEraseFromParent(at);
		return true;
	}
	other = stand_in(at, way);
	if (other == NULL)
		return false;
	LLVMReplaceAllUsesWith(at, other);
	LLVMInstructionEraseFromParent(at);
	return true;
}

static bool is_wrong(struct oracle *oracle, LLVMModuleRef module)
{
	struct mismatch ignored;

	return !LLVMVerifyModule(module, LLVMReturnStatusAction, NULL) &&
	       !oracle_check(oracle, module, &ignored);
}

static LLVMModuleRef without_unused(struct oracle *oracle, LLVMModuleRef module)
{
	struct finalize finalize = { .module = LLVMCloneModule(module) };
	struct tkb_error err = { .status = 0 };

	if (finalize_run(&finalize, "function(dce),globaldce", &err) == 0 &&
	    is_wrong(oracle, finalize.module)) {
		LLVMDisposeModule(module);
		return finalize.module;
	}
	LLVMDisposeModule(finalize.module);
	return module;
}

LLVMModuleRef oracle_shrink(struct oracle *oracle, LLVMModuleRef module,
                            const struct mismatch *mismatch)
{
	struct oracle one = *oracle;
	bool has_changed = true;

	one.only = mismatch->variant;
	while (has_changed) {
		has_changed = false;
		for (size_t i = count(module); i-- > 0;) {
			for (unsigned way = 0; way < 2; way++) {
				LLVMModuleRef less = LLVMCloneModule(module);

				if (!remove_one(less, i, way) ||
				    !is_wrong(&one, less)) {
					LLVMDisposeModule(less);
					continue;
				}
				LLVMDisposeModule(module);
				module = less;
				has_changed = true;
				break;
			}
		}
	}
	return without_unused(&one, module);
}
