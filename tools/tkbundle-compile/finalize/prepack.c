/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack.h"

#include <stdio.h>
#include <stdlib.h>

#include "worker/fail.h"

static bool is_byte(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
	       LLVMGetIntTypeWidth(type) == 8;
}

static bool is_used_once(LLVMValueRef value)
{
	LLVMUseRef use = LLVMGetFirstUse(value);

	return use != NULL && LLVMGetNextUse(use) == NULL;
}

/* A load of a byte that makes nothing but this word. */
static bool is_lane(LLVMValueRef value)
{
	return LLVMIsALoadInst(value) != NULL && is_byte(LLVMTypeOf(value)) &&
	       !LLVMGetVolatile(value) && !LLVMIsAtomic(value) &&
	       is_used_once(value);
}

static bool is_bytes(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
	       LLVMGetVectorSize(type) == PREPACK_LANES &&
	       is_byte(LLVMGetElementType(type));
}

/* insertelement (... (insertelement <4 x i8>, load i8, 0) ...), load i8, 3 */
static bool read_lanes(LLVMValueRef word, LLVMValueRef lanes[PREPACK_LANES])
{
	LLVMValueRef at = word;

	for (int left = PREPACK_LANES; left > 0; left--) {
		LLVMValueRef index;
		uint64_t number;

		if (LLVMIsAInsertElementInst(at) == NULL ||
		    (at != word && !is_used_once(at)))
			return false;
		index = LLVMIsAConstantInt(LLVMGetOperand(at, 2));
		number = index == NULL ? PREPACK_LANES
		                       : LLVMConstIntGetZExtValue(index);
		if (number >= PREPACK_LANES || lanes[number] != NULL ||
		    !is_lane(LLVMGetOperand(at, 1)))
			return false;
		lanes[number] = LLVMGetOperand(at, 1);
		at = LLVMGetOperand(at, 0);
	}
	return true;
}

void prepack_find_places(LLVMTargetDataRef layout, struct prepack_word *word)
{
	struct prepack_address other;

	word->is_one_place = prepack_address_of(
		layout, LLVMGetOperand(word->lanes[0], 0), &word->address);
	word->offsets[0] = word->address.offset;
	for (int i = 1; i < PREPACK_LANES && word->is_one_place; i++) {
		word->is_one_place =
			prepack_address_of(layout,
		                           LLVMGetOperand(word->lanes[i], 0),
		                           &other) &&
			prepack_is_same_place(&word->address, &other);
		word->offsets[i] = other.offset;
	}
}

static int add_word(struct prepack *prepack, const struct prepack_word *word,
                    struct tkb_error *err)
{
	const size_t capacity = 2 * prepack->capacity + 16;
	struct prepack_word *grown = prepack->words;

	if (prepack->count == prepack->capacity) {
		grown = realloc(grown, capacity * sizeof(*grown));
		if (grown == NULL)
			return fail(err, TKB_ERR_NOMEM, "out of memory");
		prepack->words = grown;
		prepack->capacity = capacity;
	}
	prepack->words[prepack->count++] = *word;
	return 0;
}

/* How many words a load of that type reads, if it is one of words; else 0. */
static size_t count_words(LLVMTypeRef type)
{
	size_t bytes = 1;
	unsigned width;

	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		bytes = LLVMGetVectorSize(type);
		type = LLVMGetElementType(type);
	}
	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
		return 0;
	width = LLVMGetIntTypeWidth(type);
	bytes *= width / 8;
	return (width == 8 || width == 32) &&
	                       (bytes == 4 || bytes == 8 || bytes == 16)
	               ? bytes / 4
	               : 0;
}

/* Words that are read at once, of a constant that may be repacked. */
static bool read_at_once(const struct prepack *prepack,
                         struct prepack_word *word)
{
	LLVMValueRef load = word->word;

	if (LLVMIsALoadInst(load) == NULL || LLVMGetVolatile(load) ||
	    LLVMIsAtomic(load))
		return false;
	word->count = count_words(LLVMTypeOf(load));
	word->is_one_place =
		word->count != 0 &&
		prepack_address_of(prepack->layout, LLVMGetOperand(load, 0),
	                           &word->address) &&
		LLVMIsAGlobalVariable(word->address.base) != NULL &&
		LLVMIsGlobalConstant(word->address.base);
	return word->is_one_place;
}

static int find_words(struct prepack *prepack, struct tkb_error *err)
{
	int rc = 0;

	prepack->count = 0;
	for (LLVMValueRef at = finalize_first(prepack->finalize->module);
	     at != NULL && rc == 0; at = finalize_next(at)) {
		struct prepack_word word = { .word = at, .count = 1 };

		if (is_bytes(LLVMTypeOf(at)) && read_lanes(at, word.lanes))
			prepack_find_places(prepack->layout, &word);
		else if (!read_at_once(prepack, &word))
			continue;
		rc = add_word(prepack, &word, err);
	}
	return rc;
}

static void tell(const struct prepack *prepack)
{
	char *const did = prepack->finalize->did;
	const size_t size = sizeof(prepack->finalize->did);
	size_t used = 0;

	if (prepack->repacked_count != 0)
		used = (size_t)snprintf(did, size,
		                        "%zu word%s repacked into %zu table%s",
		                        prepack->repacked_count,
		                        prepack->repacked_count == 1 ? "" : "s",
		                        prepack->table_count,
		                        prepack->table_count == 1 ? "" : "s");
	if (prepack->widened_count != 0)
		(void)snprintf(did + used, size - used,
		               "%s%zu word%s read at once",
		               used == 0 ? "" : ", ", prepack->widened_count,
		               prepack->widened_count == 1 ? "" : "s");
}

static int clean_up(struct prepack *prepack, struct tkb_error *err)
{
	if (prepack->repacked_count + prepack->widened_count == 0)
		return 0;
	tell(prepack);
	return finalize_run(prepack->finalize, "function(dce),globaldce", err);
}

static int run(struct prepack *prepack, struct tkb_error *err)
{
	int rc;

	if (LLVMByteOrder(prepack->layout) != LLVMLittleEndian)
		return 0;
	rc = find_words(prepack, err);
	if (rc < 0 || prepack->count == 0)
		return rc;
	/* Bytes that are loaded twice are one; and how loads are aligned. */
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
	const int rc = run(&prepack, err);

	free(prepack.words);
	return rc;
}
