/* SPDX-License-Identifier: Apache-2.0 */
#include "llvm/ptx_copy.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "llvm/llvm_values.h"
#include "llvm/ptx_read.h"

enum {
	TO, /* operands of the call */
	FROM,
	BYTES
};

/* Address spaces. */
enum {
	GLOBAL = 1,
	SHARED = 3
};

struct copy {
	unsigned size; /* bytes */
	long long to;  /* offsets */
	long long from;
	/* i1, under which all bytes are read, and else none; NULL: always */
	LLVMValueRef condition;
};

static bool is_number(LLVMValueRef value, unsigned number)
{
	return LLVMIsAConstantInt(value) != NULL &&
	       LLVMConstIntGetZExtValue(value) == number;
}

/* False: some of the bytes may be read. */
static bool find_condition(LLVMValueRef bytes, struct copy *copy)
{
	LLVMTypeRef condition =
		LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(bytes)));

	if (is_number(bytes, copy->size))
		copy->condition = NULL;
	else if (is_number(bytes, 0))
		copy->condition = LLVMConstNull(condition);
	else if (LLVMIsASelectInst(bytes) != NULL &&
	         is_number(LLVMGetOperand(bytes, 1), copy->size) &&
	         is_number(LLVMGetOperand(bytes, 2), 0))
		copy->condition = LLVMGetOperand(bytes, 0);
	else
		return false;
	return true;
}

static bool read_text(const char *text, struct copy *out)
{
	int end = 0;

	(void)sscanf(text,
	             "cp.async.c%*1[ag].shared.global [ $0 + %lld ], "
	             "[ $1 + %lld ], 0x%x, $2;%n",
	             &out->to, &out->from, &out->size, &end);
	return end != 0 && text[end] == '\0' &&
	       (out->size == 4 || out->size == 8 || out->size == 16);
}

static bool is_pointer_to(LLVMValueRef value, unsigned space)
{
	LLVMTypeRef type = LLVMTypeOf(value);

	return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
	       LLVMGetPointerAddressSpace(type) == space;
}

static bool read_copy(LLVMValueRef call, struct copy *out)
{
	static const char wanted[] = "r,l,r";
	const char *const text = llvm_called_ptx(call);
	const char *constraints;
	size_t size = 0;

	if (text == NULL)
		return false;
	constraints = LLVMGetInlineAsmConstraintString(LLVMGetCalledValue(call),
	                                               &size);
	return size == strlen(wanted) &&
	       memcmp(constraints, wanted, size) == 0 &&
	       is_pointer_to(LLVMGetOperand(call, TO), SHARED) &&
	       is_pointer_to(LLVMGetOperand(call, FROM), GLOBAL) &&
	       read_text(text, out) &&
	       find_condition(LLVMGetOperand(call, BYTES), out);
}

unsigned ptx_copy_size(LLVMValueRef call)
{
	struct copy copy;

	return read_copy(call, &copy) ? copy.size : 0;
}

static LLVMValueRef build_offset(LLVMBuilderRef builder, LLVMValueRef pointer,
                                 long long offset)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(pointer));
	LLVMValueRef by = LLVMConstInt(LLVMInt64TypeInContext(context),
	                               (unsigned long long)offset, true);

	return offset == 0
	               ? pointer
	               : LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context),
	                               pointer, &by, 1, "");
}

void ptx_copy_split(LLVMBuilderRef builder, LLVMValueRef call)
{
	LLVMTypeRef word =
		LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(call)));
	struct copy copy;
	unsigned count;
	LLVMValueRef value;
	LLVMValueRef store;

	if (!read_copy(call, &copy))
		return;
	count = copy.size / 4;
	LLVMPositionBuilderBefore(builder, call);
	if (copy.condition != NULL && LLVMIsNull(copy.condition))
		value = LLVMConstNull(count == 1 ? word
		                                 : LLVMVectorType(word, count));
	else
		value = ptx_read_build(builder,
		                       build_offset(builder,
		                                    LLVMGetOperand(call, FROM),
		                                    copy.from),
		                       count, copy.condition);
	store = LLVMBuildStore(
		builder, value,
		build_offset(builder, LLVMGetOperand(call, TO), copy.to));
	LLVMSetAlignment(store, copy.size);
	LLVMInstructionEraseFromParent(call);
}
