/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_LLVM_VALUES_H
#define TKB_COMPILE_LLVM_VALUES_H

/* Queries about LLVM values that its C API lacks. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "base/base.h"

static inline bool llvm_has_one_use(LLVMValueRef value)
{
	LLVMUseRef use = LLVMGetFirstUse(value);

	return use != NULL && LLVMGetNextUse(use) == NULL;
}

/* A builder before an instruction. */
static inline LLVMBuilderRef llvm_builder_before(LLVMValueRef instruction)
{
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(
		LLVMGetTypeContext(LLVMTypeOf(instruction)));

	LLVMPositionBuilderBefore(builder, instruction);
	return builder;
}

/* The opcode of an instruction or a constant expression; 0: it is neither. */
static inline LLVMOpcode llvm_opcode(LLVMValueRef value)
{
	if (LLVMIsAInstruction(value) != NULL)
		return LLVMGetInstructionOpcode(value);
	return LLVMIsAConstantExpr(value) != NULL ? LLVMGetConstOpcode(value)
	                                          : (LLVMOpcode)0;
}

/* A value's name, or "". */
static inline const char *llvm_name(LLVMValueRef value)
{
	size_t size = 0;

	return LLVMGetValueName2(value, &size);
}

static inline bool llvm_is_integer(LLVMTypeRef type, unsigned width)
{
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
	       LLVMGetIntTypeWidth(type) == width;
}

/* The number in a constant. False: it is none, or has more than 64 bits. */
static inline bool llvm_read_number(LLVMValueRef value, uint64_t *out)
{
	if (LLVMIsAConstantInt(value) == NULL ||
	    LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
		return false;
	*out = LLVMConstIntGetZExtValue(value);
	return true;
}

/* Is the load or store neither volatile nor atomic? */
static inline bool llvm_is_plain(LLVMValueRef access)
{
	return !LLVMGetVolatile(access) && !LLVMIsAtomic(access);
}

static inline bool llvm_is_plain_load(LLVMValueRef value)
{
	return LLVMIsALoadInst(value) != NULL && llvm_is_plain(value);
}

static inline bool llvm_branches_to(LLVMBasicBlockRef block,
                                    LLVMBasicBlockRef to)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
		if (LLVMGetSuccessor(end, i) == to)
			return true;
	}
	return false;
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

/* Does it call a function whose name begins with one of `count` words? */
static inline bool llvm_calls_any(LLVMValueRef instruction,
                                  const char *const *words, size_t count)
{
	LLVMValueRef callee = llvm_called_function(instruction);

	return callee != NULL &&
	       tkb_begins_with_any(llvm_name(callee), words, count);
}

/* The inline PTX that an instruction calls; NULL: none, or there is a zero in it. */
static inline const char *llvm_called_ptx(LLVMValueRef instruction)
{
	LLVMValueRef assembly = llvm_called_assembly(instruction);
	size_t size = 0;
	const char *text = assembly == NULL
	                           ? NULL
	                           : LLVMGetInlineAsmAsmString(assembly, &size);

	/* LLVM keeps a zero behind it. */
	return text != NULL && strlen(text) == size ? text : NULL;
}

/* The special register that is read, as PTX names it: "ctaid.x"; NULL: none. */
static inline const char *llvm_special_register(LLVMValueRef instruction)
{
	static const char reader[] = "llvm.nvvm.read.ptx.sreg.";
	LLVMValueRef callee = llvm_called_function(instruction);
	const char *const name = callee == NULL ? "" : llvm_name(callee);

	return tkb_begins_with(name, reader) ? name + strlen(reader) : NULL;
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

/* Where a function has its own attributes, and not those of a parameter. */
static const LLVMAttributeIndex llvm_function_index =
	(LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static inline unsigned llvm_attribute_kind(const char *name)
{
	return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* An attribute of a function; NULL: it does not have it. */
static inline LLVMAttributeRef llvm_attribute(LLVMValueRef function,
                                              LLVMAttributeIndex index,
                                              const char *name)
{
	return LLVMGetEnumAttributeAtIndex(function, index,
	                                   llvm_attribute_kind(name));
}

static inline bool llvm_has_attribute(LLVMValueRef function, const char *name)
{
	return llvm_attribute(function, llvm_function_index, name) != NULL;
}

/* Make an attribute without a value. */
static inline LLVMAttributeRef llvm_make_attribute(LLVMContextRef context,
                                                   const char *name)
{
	return LLVMCreateEnumAttribute(context, llvm_attribute_kind(name), 0);
}

/* The effects of a function on memory, as LLVM's bits. */
static inline uint64_t llvm_memory_effects(LLVMValueRef function)
{
	LLVMAttributeRef attribute =
		llvm_attribute(function, llvm_function_index, "memory");

	return attribute == NULL ? UINT64_MAX
	                         : LLVMGetEnumAttributeValue(attribute);
}

/* memory(none) nounwind willreturn: a call only computes, and completes. */
static inline bool llvm_only_computes(LLVMValueRef function)
{
	return llvm_memory_effects(function) == 0 &&
	       llvm_has_attribute(function, "nounwind") &&
	       llvm_has_attribute(function, "willreturn");
}

#endif
