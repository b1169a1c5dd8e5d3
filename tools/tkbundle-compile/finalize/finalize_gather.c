/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_sum.h"

#include <stdlib.h>

#include "base/base.h"
#include "finalize/finalize_external.h"

/*
 * Works on sums of byte products, such as those of unrolled loops, where each
 * byte is loaded separately. Rules match words of four bytes. So this gathers
 * four products with adjacent bytes into two words, and the sum takes its bytes
 * from these. Later, "fuse" turns the products into one instruction, and
 * "prepack" loads each word at once.
 */

/* Four products, and which byte of each product goes into the first word. */
struct four {
	struct product *products[PREPACK_LANES];
	int sides[PREPACK_LANES];
};

static bool is_free(const struct product *product)
{
	return product->value != NULL && product->bytes[0] != NULL;
}

/* The byte of `other` that is `distance` after that of `first`; -1: none. */
static int side_after(const struct product *first, int side,
                      const struct product *other, int distance)
{
	for (int at = 0; at < 2; at++) {
		if (other->is_known[at] &&
		    other->kinds[at] == first->kinds[side] &&
		    other->kinds[1 - at] == first->kinds[1 - side] &&
		    other->addresses[at].offset ==
		            first->addresses[side].offset + distance &&
		    prepack_differ_by_offset(&first->addresses[side],
		                             &other->addresses[at]))
			return at;
	}
	return -1;
}

/* A product may fit several lanes, but is used for only one. */
static bool has_product(const struct four *four, int lanes,
                        const struct product *product)
{
	for (int lane = 0; lane < lanes; lane++) {
		if (four->products[lane] == product)
			return true;
	}
	return false;
}

static bool find_next(struct sum *sum, struct four *four, int lane)
{
	const struct product *first = four->products[0];

	for (size_t i = 0; i < sum->count; i++) {
		struct product *other = &sum->terms[i];
		int side;

		if (!is_free(other) || has_product(four, lane, other))
			continue;
		side = side_after(first, four->sides[0], other, lane);
		if (side < 0)
			continue;
		four->products[lane] = other;
		four->sides[lane] = side;
		return true;
	}
	return false;
}

static struct prepack_word word_of(const struct sum *sum,
                                   const struct four *four, bool is_other)
{
	struct prepack_word word = { .word = NULL };

	for (int lane = 0; lane < PREPACK_LANES; lane++) {
		const int side = four->sides[lane];

		word.lanes[lane] =
			four->products[lane]->bytes[is_other ? 1 - side : side];
	}
	prepack_find_offsets(sum->layout, &word);
	return word;
}

/* True for bytes of an internal constant, which prepack may rearrange. */
static bool can_be_packed(const struct prepack_word *word)
{
	LLVMValueRef base = word->address.base;

	return word->has_offsets && LLVMIsAGlobalVariable(base) != NULL &&
	       LLVMIsGlobalConstant(base) && finalize_is_internal(base);
}

/* Gathering pays off: the adjacent bytes can be loaded as one word. */
static bool is_adjacent(const struct sum *sum, const struct four *four)
{
	const struct prepack_word word = word_of(sum, four, false);

	return prepack_widen_at(&word) != NULL;
}

/* Gathering pays off: bytes of the other factors can be packed into a word. */
static bool can_become_word(const struct sum *sum, const struct four *four)
{
	const struct prepack_word other = word_of(sum, four, true);

	return can_be_packed(&other);
}

static bool find_four(struct sum *sum, struct product *first, struct four *four,
                      bool (*is_worth_it)(const struct sum *sum,
                                          const struct four *four))
{
	for (int side = 0; side < 2; side++) {
		bool is_found = first->is_known[side];

		four->products[0] = first;
		four->sides[0] = side;
		for (int lane = 1; lane < PREPACK_LANES && is_found; lane++)
			is_found = find_next(sum, four, lane);
		if (is_found && is_worth_it(sum, four))
			return true;
	}
	return false;
}

static LLVMValueRef lane_number(const struct sum *sum, int value)
{
	return LLVMConstInt(LLVMTypeOf(sum->root), (unsigned)value, false);
}

/* Build a word of the bytes, and extract the bytes from that word. */
static LLVMValueRef build_word(const struct sum *sum, const struct four *four,
                               bool is_other)
{
	const struct prepack_word word = word_of(sum, four, is_other);
	LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(word.lanes[0]), 4);
	LLVMValueRef bytes = LLVMGetPoison(type);

	for (int lane = 0; lane < PREPACK_LANES; lane++)
		bytes = LLVMBuildInsertElement(sum->builder, bytes,
		                               word.lanes[lane],
		                               lane_number(sum, lane), "");
	bytes = LLVMBuildBitCast(sum->builder, bytes, LLVMTypeOf(sum->root),
	                         "");
	return LLVMBuildBitCast(sum->builder, bytes, type, "");
}

static void add_to_total(struct sum *sum, LLVMValueRef value)
{
	sum->total = sum->total == NULL ? value
	                                : LLVMBuildAdd(sum->builder, sum->total,
	                                               value, "");
}

static LLVMValueRef build_factor(const struct sum *sum, LLVMValueRef bytes,
                                 int lane, LLVMOpcode kind)
{
	LLVMValueRef byte = LLVMBuildExtractElement(sum->builder, bytes,
	                                            lane_number(sum, lane), "");

	return LLVMBuildCast(sum->builder, kind, byte, LLVMTypeOf(sum->root),
	                     "");
}

static void build_four(struct sum *sum, const struct four *four)
{
	const struct product *first = four->products[0];
	const int side = four->sides[0];
	LLVMValueRef word = build_word(sum, four, false);
	LLVMValueRef other = build_word(sum, four, true);

	for (int lane = 0; lane < PREPACK_LANES; lane++) {
		LLVMValueRef a =
			build_factor(sum, word, lane, first->kinds[side]);
		LLVMValueRef b =
			build_factor(sum, other, lane, first->kinds[1 - side]);

		add_to_total(sum, LLVMBuildMul(sum->builder, a, b, ""));
	}
}

/* Rebuild the sum. Terms of no group were computed earlier, so come first. */
static void rebuild(struct sum *sum, const struct four *fours, size_t count)
{
	LLVMPositionBuilderBefore(sum->builder, sum->root);
	sum->total = NULL;
	for (size_t i = 0; i < sum->count; i++) {
		if (sum->terms[i].value != NULL)
			add_to_total(sum, sum->terms[i].value);
	}
	for (size_t i = 0; i < count; i++)
		build_four(sum, &fours[i]);
	LLVMReplaceAllUsesWith(sum->root, sum->total);
	sum->group_count += count;
}

static size_t find_fours(struct sum *sum, struct four *fours,
                         bool (*is_worth_it)(const struct sum *sum,
                                             const struct four *four))
{
	size_t count = 0;

	for (size_t i = 0; i < sum->count; i++) {
		struct four *four = &fours[count];

		if (!is_free(&sum->terms[i]) ||
		    !find_four(sum, &sum->terms[i], four, is_worth_it))
			continue;
		for (int lane = 0; lane < PREPACK_LANES; lane++)
			four->products[lane]->value = NULL;
		count++;
	}
	return count;
}

static int gather_sum(struct sum *sum, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct four *fours =
		tkb_alloc_array(sum->count / 4 + 1, sizeof(*fours));
	size_t count;

	if (fours == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < sum->count; i++)
		sum_read_product(sum->layout, &sum->terms[i]);
	count = find_fours(sum, fours, is_adjacent);
	count += find_fours(sum, fours + count, can_become_word);
	if (count != 0)
		rebuild(sum, fours, count);
	return 0;
}

static bool has_sums(LLVMModuleRef module)
{
	for (LLVMValueRef at = finalize_first(module); at != NULL;
	     at = finalize_next(at)) {
		if (LLVMGetInstructionOpcode(at) == LLVMMul &&
		    sum_byte_of(LLVMGetOperand(at, 0)) != NULL &&
		    sum_byte_of(LLVMGetOperand(at, 1)) != NULL)
			return true;
	}
	return false;
}

static int gather_all(struct sum *sum, struct tkb_error *err)
{
	int rc = finalize_run(sum->finalize, "function(infer-alignment)", err);

	for (LLVMValueRef at = finalize_first(sum->finalize->module);
	     at != NULL && rc == 0; at = finalize_next(at)) {
		if (!sum_is_root(at))
			continue;
		sum->root = at;
		rc = sum_flatten(sum, err);
		if (rc == 0)
			rc = gather_sum(sum, err);
	}
	if (rc == 0 && sum->group_count != 0)
		rc = finalize_run(sum->finalize, "function(dce)", err);
	return rc;
}

int finalize_gather(struct finalize *finalize, struct tkb_error *err)
{
	struct sum sum = {
		.finalize = finalize,
		.layout = LLVMGetModuleDataLayout(finalize->module),
	};
	int rc;

	if (LLVMByteOrder(sum.layout) != LLVMLittleEndian ||
	    !has_sums(finalize->module))
		return 0;
	sum.builder = LLVMCreateBuilderInContext(
		LLVMGetModuleContext(finalize->module));
	rc = gather_all(&sum, err);
	LLVMDisposeBuilder(sum.builder);
	free(sum.terms);
	finalize_count(finalize, sum.group_count, "word");
	return rc;
}
