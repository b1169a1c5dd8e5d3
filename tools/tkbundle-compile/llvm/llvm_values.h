/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_LLVM_VALUES_H
#define TKB_COMPILE_LLVM_VALUES_H

/* Queries about LLVM values that its C API lacks. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <llvm-c/Core.h>

static inline bool llvm_has_one_use(LLVMValueRef value)
{
	LLVMUseRef use = LLVMGetFirstUse(value);

	return use != NULL && LLVMGetNextUse(use) == NULL;
}

/* The opcode of an instruction or a constant expression; 0: it is neither. */
static inline LLVMOpcode llvm_opcode(LLVMValueRef value)
{
	if (LLVMIsAInstruction(value) != NULL)
		return LLVMGetInstructionOpcode(value);
	return LLVMIsAConstantExpr(value) != NULL ? LLVMGetConstOpcode(value)
	                                          : (LLVMOpcode)0;
}

/* The inline assembly that an instruction calls; NULL: it calls none. */
static inline LLVMValueRef llvm_called_assembly(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) == NULL
	               ? NULL
	               : LLVMIsAInlineAsm(LLVMGetCalledValue(instruction));
}

/* The function that an instruction calls; NULL: none, or it is not known. */
static inline LLVMValueRef llvm_called_function(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) == NULL
	               ? NULL
	               : LLVMIsAFunction(LLVMGetCalledValue(instruction));
}

/*
 * The special register that an instruction reads, as PTX names it: "ctaid.x"; NULL: it
 * reads none.
 */
static inline const char *llvm_special_register(LLVMValueRef instruction)
{
	static const char reader[] = "llvm.nvvm.read.ptx.sreg.";
	LLVMValueRef callee = llvm_called_function(instruction);
	size_t size = 0;
	const char *const name =
		callee == NULL ? "" : LLVMGetValueName2(callee, &size);

	return strncmp(name, reader, strlen(reader)) == 0
	               ? name + strlen(reader)
	               : NULL;
}

/* The number of lanes of a vector; any other type has one. */
static inline unsigned llvm_lane_count(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind
	               ? LLVMGetVectorSize(type)
	               : 1;
}

/* The size of a number in bytes; 0: it is none, or of an unusual width. */
static inline unsigned llvm_number_size(LLVMTypeRef type)
{
	unsigned width;

	switch ((int)LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		width = LLVMGetIntTypeWidth(type);
		return width == 8 || width == 16 || width == 32 || width == 64
		               ? width / 8
		               : 0;
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
		return 2;
	case LLVMFloatTypeKind:
		return 4;
	case LLVMDoubleTypeKind:
		return 8;
	default:
		return 0;
	}
}

/* The value of a function's attribute. False if it does not have it. */
static inline bool llvm_function_attribute(LLVMValueRef function,
                                           const char *name, uint64_t *out)
{
	LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(
		function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		LLVMGetEnumAttributeKindForName(name, strlen(name)));

	if (attribute != NULL)
		*out = LLVMGetEnumAttributeValue(attribute);
	return attribute != NULL;
}

/*
 * Is it memory(none) nounwind willreturn? A call then only computes, and
 * completes.
 */
static inline bool llvm_only_computes(LLVMValueRef function)
{
	uint64_t effects = 1;
	uint64_t ignored = 0;

	return llvm_function_attribute(function, "memory", &effects) &&
	       effects == 0 &&
	       llvm_function_attribute(function, "nounwind", &ignored) &&
	       llvm_function_attribute(function, "willreturn", &ignored);
}

#endif
