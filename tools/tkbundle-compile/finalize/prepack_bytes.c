/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack.h"

#include <stdlib.h>
#include <string.h>

#include "llvm/llvm_values.h"

/*
 * The bytes of a constant array of numbers, possibly nested. LLVM keeps them
 * in this machine's byte order, which is little-endian like the GPU's.
 */

enum {
	SIZE_LIMIT = 1 << 28 /* larger constants are not repacked */
};

/* The size of the type in bytes; 0 if it is not such an array. */
static size_t size_of_array(LLVMTypeRef type)
{
	size_t size = 1;

	for (; LLVMGetTypeKind(type) == LLVMArrayTypeKind;
	     type = LLVMGetElementType(type)) {
		const uint64_t length = LLVMGetArrayLength2(type);

		if (length > SIZE_LIMIT)
			return 0;
		size *= length;
		if (size > SIZE_LIMIT)
			return 0;
	}
	return size * llvm_number_size(type);
}

/* A position in nested arrays. */
struct walk {
	LLVMValueRef arrays[8];
	unsigned next[8];
	size_t depth;
};

/* Copy an array that has no arrays in it. */
static bool copy_leaf(LLVMValueRef array, size_t size, unsigned char *out)
{
	size_t given = 0;
	const char *bytes;

	if (LLVMIsAConstantAggregateZero(array) != NULL) {
		memset(out, 0, size);
		return true;
	}
	if (LLVMIsAConstantDataArray(array) == NULL)
		return false;
	bytes = LLVMGetRawDataValues(array, &given);
	if (given != size)
		return false;
	memcpy(out, bytes, size);
	return true;
}

static bool copy_all(LLVMValueRef initializer, unsigned char *out)
{
	struct walk walk = { .arrays = { initializer }, .depth = 1 };

	while (walk.depth != 0) {
		LLVMValueRef array = walk.arrays[walk.depth - 1];
		const unsigned next = walk.next[walk.depth - 1]++;
		const size_t size = size_of_array(LLVMTypeOf(array));

		if (LLVMIsAConstantArray(array) == NULL) {
			if (!copy_leaf(array, size, out))
				return false;
			out += size;
			walk.depth--;
		} else if (next == (unsigned)LLVMGetNumOperands(array)) {
			walk.depth--;
		} else if (walk.depth == 8) {
			return false;
		} else {
			walk.arrays[walk.depth] = LLVMGetOperand(array, next);
			walk.next[walk.depth++] = 0;
		}
	}
	return true;
}

unsigned char *prepack_bytes_of(LLVMValueRef initializer, size_t size)
{
	unsigned char *out;

	if (size == 0 || size > SIZE_LIMIT ||
	    size_of_array(LLVMTypeOf(initializer)) != size)
		return NULL;
	out = malloc(size);
	if (out != NULL && !copy_all(initializer, out)) {
		free(out);
		return NULL;
	}
	return out;
}
