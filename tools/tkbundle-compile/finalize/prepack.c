/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "llvm/llvm_values.h"

/* A load of a byte that is used for this word only. */
static bool is_lane(LLVMValueRef value)
{
	return llvm_is_plain_load(value) &&
	       llvm_is_integer(LLVMTypeOf(value), 8) && llvm_has_one_use(value);
}

static bool is_bytes(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
	       LLVMGetVectorSize(type) == PREPACK_LANES &&
	       llvm_is_integer(LLVMGetElementType(type), 8);
}

/*
 * Read insertelement (... (insertelement <4 x i8>, load i8, 0) ...), load i8,
 * 3.
 */
static bool read_lanes(LLVMValueRef word, LLVMValueRef lanes[PREPACK_LANES])
{
	LLVMValueRef at = word;

	for (int left = PREPACK_LANES; left > 0; left--) {
		uint64_t number;

		if (LLVMIsAInsertElementInst(at) == NULL ||
		    (at != word && !llvm_has_one_use(at)) ||
		    !llvm_read_number(LLVMGetOperand(at, 2), &number) ||
		    number >= PREPACK_LANES || lanes[number] != NULL ||
		    !is_lane(LLVMGetOperand(at, 1)))
			return false;
		lanes[number] = LLVMGetOperand(at, 1);
		at = LLVMGetOperand(at, 0);
	}
	return true;
}

void prepack_find_offsets(LLVMTargetDataRef layout, struct prepack_word *word)
{
	struct prepack_address other;

	word->has_offsets = prepack_address_of(
		layout, LLVMGetOperand(word->lanes[0], 0), &word->address);
	word->offsets[0] = word->address.offset;
	for (int i = 1; i < PREPACK_LANES && word->has_offsets; i++) {
		word->has_offsets =
			prepack_address_of(layout,
		                           LLVMGetOperand(word->lanes[i], 0),
		                           &other) &&
			prepack_differ_by_offset(&word->address, &other);
		word->offsets[i] = other.offset;
	}
}

/* The size of a number that fits a word, in bytes; 0: another type. */
static size_t size_of_number(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind: {
		const unsigned width = LLVMGetIntTypeWidth(type);

		return width == 8 || width == 32 ? width / 8 : 0;
	}
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
		return 2;
	case LLVMFloatTypeKind:
		return 4;
	default:
		return 0;
	}
}

/* The number of words that a load of this type reads; 0: not whole words. */
static size_t count_words(LLVMTypeRef type)
{
	size_t bytes = 1;

	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		bytes = LLVMGetVectorSize(type);
		type = LLVMGetElementType(type);
	}
	bytes *= size_of_number(type);
	return bytes == 4 || bytes == 8 || bytes == 16 ? bytes / 4 : 0;
}

/* Read a load of words from a constant that may be repacked. */
static bool read_at_once(const struct prepack *prepack,
                         struct prepack_word *word)
{
	LLVMValueRef load = word->word;

	if (!llvm_is_plain_load(load))
		return false;
	word->count = count_words(LLVMTypeOf(load));
	word->has_offsets =
		word->count != 0 &&
		prepack_address_of(prepack->layout, LLVMGetOperand(load, 0),
	                           &word->address) &&
		LLVMIsAGlobalVariable(word->address.base) != NULL &&
		LLVMIsGlobalConstant(word->address.base);
	return word->has_offsets;
}

static int find_words(struct prepack *prepack, struct tkb_error *err)
{
	int rc = 0;

	prepack->count = 0;
	for (LLVMValueRef at = finalize_first(prepack->finalize->module);
	     at != NULL && rc == 0; at = finalize_next(at)) {
		struct prepack_word word = { .word = at, .count = 1 };

		if (is_bytes(LLVMTypeOf(at)) && read_lanes(at, word.lanes))
			prepack_find_offsets(prepack->layout, &word);
		else if (!read_at_once(prepack, &word))
			continue;
		rc = tkb_append(&prepack->words, &prepack->count,
		                &prepack->capacity, &word, sizeof(word), err);
	}
	return rc;
}

static void report_counts(const struct prepack *prepack)
{
	char *const report = prepack->finalize->report;
	const size_t size = sizeof(prepack->finalize->report);
	size_t used = 0;

	if (prepack->repacked_count != 0)
		used = (size_t)snprintf(report, size,
		                        "%zu word%s repacked into %zu table%s",
		                        prepack->repacked_count,
		                        prepack->repacked_count == 1 ? "" : "s",
		                        prepack->table_count,
		                        prepack->table_count == 1 ? "" : "s");
	if (prepack->widened_count != 0)
		(void)snprintf(report + used, size - used,
		               "%s%zu word%s read at once",
		               used == 0 ? "" : ", ", prepack->widened_count,
		               prepack->widened_count == 1 ? "" : "s");
}

static int clean_up(struct prepack *prepack, struct tkb_error *err)
{
	if (prepack->repacked_count + prepack->widened_count == 0)
		return 0;
	report_counts(prepack);
	return finalize_run(prepack->finalize,
	                    "function(early-cse,dce),globaldce", err);
}

static int run_prepack(struct prepack *prepack, struct tkb_error *err)
{
	int rc;

	if (LLVMByteOrder(prepack->layout) != LLVMLittleEndian)
		return 0;
	rc = find_words(prepack, err);
	if (rc < 0 || prepack->count == 0)
		return rc;
	/* Merge duplicate loads of bytes, and find the alignment of loads. */
	rc = finalize_run(prepack->finalize,
	                  "function(early-cse,infer-alignment)", err);
	if (rc == 0)
		rc = find_words(prepack, err);
	if (rc == 0)
		rc = prepack_repack(prepack, err);
	if (rc < 0)
		return rc;
	prepack_widen(prepack);
	return clean_up(prepack, err);
}

int finalize_prepack(struct finalize *finalize, struct tkb_error *err)
{
	struct prepack prepack = {
		.finalize = finalize,
		.layout = LLVMGetModuleDataLayout(finalize->module),
	};
	const int rc = run_prepack(&prepack, err);

	free(prepack.words);
	return rc;
}
