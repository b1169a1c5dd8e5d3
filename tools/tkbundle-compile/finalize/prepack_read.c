/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack_group.h"

#include "llvm/llvm_values.h"

/* Builds the code that replaces loads of bytes. */

static LLVMValueRef build_product(LLVMBuilderRef builder, LLVMValueRef value,
                                  int64_t factor)
{
	return factor == 1 ? value
	                   : LLVMBuildMul(builder, value,
	                                  LLVMConstInt(LLVMTypeOf(value),
	                                               (uint64_t)factor, false),
	                                  "");
}

static LLVMValueRef build_wide(LLVMBuilderRef builder,
                               const struct prepack_term *term,
                               LLVMTypeRef wide)
{
	return LLVMBuildIntCast2(builder, term->value, wide,
	                         term->extension == PREPACK_SIGNED, "");
}

/* Build the sum of the terms without an axis, in steps of this axis. */
static LLVMValueRef build_sum(LLVMBuilderRef builder, const struct group *group,
                              const struct axis *axis, LLVMTypeRef wide)
{
	const struct prepack_address *address = &group->words[0]->address;
	LLVMValueRef sum = NULL;

	for (size_t i = 0; i < address->term_count; i++) {
		const struct prepack_term *term = &address->terms[i];
		LLVMValueRef at;

		if (!prepack_is_summed(group, term))
			continue;
		at = build_product(builder, build_wide(builder, term, wide),
		                   term->factor / axis->term.factor);
		sum = sum == NULL ? at : LLVMBuildAdd(builder, sum, at, "");
	}
	return sum;
}

/* Build the distance of an axis from its first value, in positions. */
static LLVMValueRef build_axis(LLVMBuilderRef builder,
                               const struct group *group,
                               const struct axis *axis, LLVMTypeRef wide)
{
	const struct prepack_range *range = &axis->range;
	LLVMValueRef at = axis->term.value == NULL
	                          ? build_sum(builder, group, axis, wide)
	                          : build_wide(builder, &axis->term, wide);

	if (range->low != 0)
		at = LLVMBuildSub(
			builder, at,
			LLVMConstInt(wide, (uint64_t)range->low, true), "");
	if (axis->stride % range->step == 0)
		return build_product(builder, at, axis->stride / range->step);
	at = LLVMBuildExactUDiv(
		builder, at, LLVMConstInt(wide, (uint64_t)range->step, false),
		"");
	return build_product(builder, at, axis->stride);
}

/* Build the position, before the first word of the group. */
static LLVMValueRef build_position(LLVMBuilderRef builder,
                                   const struct group *group, LLVMTypeRef wide)
{
	LLVMValueRef sum = LLVMConstInt(wide, 0, false);

	for (size_t i = 0; i < group->axis_count; i++) {
		LLVMValueRef at =
			build_axis(builder, group, &group->axes[i], wide);

		sum = i == 0 ? at : LLVMBuildAdd(builder, sum, at, "");
	}
	return build_product(builder, sum, (int64_t)group->adjacent_count);
}

/* Build the load of words from this one on, which has this index at the position. */
static LLVMValueRef build_load(LLVMBuilderRef builder,
                               const struct group *group, size_t index,
                               LLVMTypeRef type, LLVMValueRef position)
{
	LLVMContextRef context = LLVMGetTypeContext(type);
	const uint64_t distance = (uint64_t)prepack_word_index(group, index, 0);
	LLVMValueRef offset =
		LLVMConstInt(LLVMInt64TypeInContext(context), distance, false);
	LLVMValueRef load;

	if (distance != 0)
		position = LLVMBuildInBoundsGEP2(
			builder, LLVMInt32TypeInContext(context), position,
			&offset, 1, "");
	load = LLVMBuildLoad2(builder, type, position, "");
	LLVMSetAlignment(load, 4 * (unsigned)group->adjacent_count);
	return load;
}

/* Build `count` words of a vector, as the type that they were loaded as. */
static LLVMValueRef build_part(LLVMBuilderRef builder, LLVMValueRef all,
                               size_t first, size_t count, LLVMTypeRef type)
{
	LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
	LLVMValueRef lanes[PREPACK_LANES];

	for (size_t i = 0; i < count; i++)
		lanes[i] = LLVMConstInt(number, first + i, false);
	return LLVMBuildBitCast(
		builder,
		count == 1
			? LLVMBuildExtractElement(builder, all, lanes[0], "")
			: LLVMBuildShuffleVector(
				  builder, all, LLVMGetPoison(LLVMTypeOf(all)),
				  LLVMConstVector(lanes, (unsigned)count), ""),
		type, "");
}

static void replace_word(struct prepack_word *word, LLVMValueRef by)
{
	LLVMReplaceAllUsesWith(word->word, by);
	word->is_done = true;
}

/*
 * Replace the words from this one on that are adjacent in the table, by one load before
 * the first: if a group's first word is read, all are. Returns how many these are.
 */
static size_t read_together(LLVMBuilderRef builder, const struct group *group,
                            size_t from, size_t index, LLVMValueRef position)
{
	struct prepack_word *const *words = group->words + from;
	LLVMTypeRef number = LLVMInt32TypeInContext(
		LLVMGetTypeContext(LLVMTypeOf(position)));
	size_t done = 0;
	size_t count = 0;
	LLVMValueRef all;

	LLVMPositionBuilderBefore(builder, words[0]->word);
	if (words[0]->count == group->adjacent_count) {
		replace_word(words[0],
		             build_load(builder, group, index,
		                        LLVMTypeOf(words[0]->word), position));
		return 1;
	}
	all = build_load(
		builder, group, index,
		LLVMVectorType(number, (unsigned)group->adjacent_count),
		position);
	for (; done < group->adjacent_count; count++) {
		struct prepack_word *word = words[count];

		replace_word(word, build_part(builder, all, done, word->count,
		                              LLVMTypeOf(word->word)));
		done += word->count;
	}
	return count;
}

void prepack_read_from(const struct prepack *prepack, struct group *group,
                       LLVMValueRef table)
{
	LLVMContextRef context =
		LLVMGetModuleContext(prepack->finalize->module);
	AUTO_LLVM(LLVMBuilderRef)
	builder = llvm_builder_before(group->words[0]->word);
	LLVMValueRef position;
	size_t count;

	position =
		build_position(builder, group, LLVMInt64TypeInContext(context));
	position =
		LLVMBuildInBoundsGEP2(builder, LLVMInt32TypeInContext(context),
	                              table, &position, 1, "");
	for (size_t i = 0, index = 0; i < group->count; i += count) {
		count = read_together(builder, group, i, index, position);
		index += group->adjacent_count;
	}
}
