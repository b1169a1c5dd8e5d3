/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack_group.h"

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

/*
 * Build the sum of the terms that have no axis of their own, in steps of this
 * axis.
 */
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

/* Build the load of `word`, which has this index at the position. */
static LLVMValueRef build_read(LLVMBuilderRef builder,
                               const struct group *group,
                               const struct prepack_word *word, size_t index,
                               LLVMValueRef position)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(position));
	const size_t together = group->adjacent_count;
	const uint64_t distance = (uint64_t)prepack_word_index(group, index, 0);
	LLVMValueRef offset =
		LLVMConstInt(LLVMInt64TypeInContext(context), distance, false);
	LLVMValueRef load;

	if (distance != 0)
		position = LLVMBuildInBoundsGEP2(
			builder, LLVMInt32TypeInContext(context), position,
			&offset, 1, "");
	load = LLVMBuildLoad2(builder, LLVMTypeOf(word->word), position, "");
	LLVMSetAlignment(
		load,
		4 * (unsigned)(index % together == 0 ? together : word->count));
	return load;
}

void prepack_read_from(const struct prepack *prepack, struct group *group,
                       LLVMValueRef table)
{
	LLVMContextRef context =
		LLVMGetModuleContext(prepack->finalize->module);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef position;
	size_t index = 0;

	LLVMPositionBuilderBefore(builder, group->words[0]->word);
	position =
		build_position(builder, group, LLVMInt64TypeInContext(context));
	position =
		LLVMBuildInBoundsGEP2(builder, LLVMInt32TypeInContext(context),
	                              table, &position, 1, "");
	for (size_t i = 0; i < group->count; i++) {
		struct prepack_word *word = group->words[i];

		LLVMPositionBuilderBefore(builder, word->word);
		LLVMReplaceAllUsesWith(
			word->word,
			build_read(builder, group, word, index, position));
		word->is_done = true;
		index += word->count;
	}
	LLVMDisposeBuilder(builder);
}
