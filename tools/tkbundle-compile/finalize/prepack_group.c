/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack_group.h"

#include <string.h>

#include "llvm/llvm_values.h"

enum {
	LINE = 128,            /* bytes */
	FACTOR_LIMIT = 1 << 28 /* four products of this and 32 bits have an
	                          exact sum */
};

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/*
 * The minimum and maximum that the other axes add to an address. A loop that
 * never ends early runs through its whole range. So if any of its iterations
 * reads inside the constant, the first and the last do, too.
 */
static void sum_others(const struct group *group, const struct axis *axis,
                       int64_t *low, int64_t *high)
{
	for (size_t i = 0; i < group->axis_count; i++) {
		const struct axis *other = &group->axes[i];
		const int64_t first = other->term.factor * other->range.low;
		const int64_t last = other->term.factor * other->range.high;
		const bool is_first_low = (first < last) != other->is_whole;

		if (other == axis)
			continue;
		*low += is_first_low ? first : last;
		*high += is_first_low ? last : first;
	}
}

/* The offset of byte `at` of the word, at position 0. */
static int64_t offset_of(const struct prepack_word *word, size_t at)
{
	return word->lanes[0] == NULL ? word->address.offset + (int64_t)at
	                              : word->offsets[at];
}

/* The first and the last byte that a word of the group reads at position 0. */
static void find_ends(const struct group *group, int64_t *low, int64_t *high)
{
	*low = INT64_MAX;
	*high = INT64_MIN;
	for (size_t i = 0; i < group->count; i++) {
		const struct prepack_word *word = group->words[i];

		for (size_t at = 0; at < 4 * word->count; at++) {
			const int64_t offset = offset_of(word, at);

			*low = offset < *low ? offset : *low;
			*high = offset > *high ? offset : *high;
		}
	}
}

/*
 * Derive the range of `axis` from the ranges of the other axes, and from the
 * fact that all reads are inside the constant.
 */
static bool bound_axis(const struct source *source, const struct group *group,
                       struct axis *axis)
{
	const int64_t factor = axis->term.factor;
	struct prepack_range *range = &axis->range;
	int64_t first;
	int64_t last;
	int64_t least = 0;
	int64_t most = 0;
	int64_t low;
	int64_t high;

	if (factor <= 0)
		return axis->is_known;
	find_ends(group, &first, &last);
	sum_others(group, axis, &least, &most);
	low = -floor_div(most + first, factor);
	high = floor_div(source->size - 1 - last - least, factor);
	if (axis->term.extension == PREPACK_UNSIGNED && low < 0)
		low = 0;
	if (!axis->is_known)
		*range = (struct prepack_range){ low, high, 1 };
	else if (high < range->high)
		range->high =
			range->low +
			floor_div(high - range->low, range->step) * range->step;
	return range->high >= range->low;
}

/*
 * Between which threads a value differs: the lowest bit of the thread's index that
 * it depends on, or one of these.
 */
enum nearness {
	WARP_BITS = 5,    /* of the index in a warp */
	THREAD_BITS = 10, /* of the index */
	UNKNOWN = THREAD_BITS,
	BLOCK,
	LOOP
};

static int lowest_bit(uint64_t mask)
{
	int bit = 0;

	while (bit < THREAD_BITS && (mask >> bit & 1) == 0)
		bit++;
	return bit;
}

static int nearness_of_call(LLVMValueRef call, int bit)
{
	const char *const name = llvm_special_register(call);

	if (name != NULL && tkb_begins_with(name, "ctaid."))
		return BLOCK;
	return bit < THREAD_BITS && name != NULL &&
	                       (strcmp(name, "tid.x") == 0 ||
	                        strcmp(name, "laneid") == 0)
	               ? bit
	               : UNKNOWN;
}

/* The constant second operand; UINT64_MAX: it is another one. */
static uint64_t second_number(LLVMValueRef instruction)
{
	uint64_t number;

	return llvm_read_number(LLVMGetOperand(instruction, 1), &number)
	               ? number
	               : UINT64_MAX;
}

/*
 * The value that this one takes bits of; NULL: none. `bit` is the lowest bit that
 * counts, of this value and then of the other.
 */
static LLVMValueRef source_of(LLVMValueRef value, int *bit)
{
	uint64_t number;

	switch ((int)llvm_opcode(value)) {
	case LLVMZExt:
	case LLVMSExt:
	case LLVMTrunc:
	case LLVMFreeze:
	case LLVMURem:
		break;
	case LLVMAnd:
		number = second_number(value);
		*bit = lowest_bit(number) > *bit ? lowest_bit(number) : *bit;
		break;
	case LLVMLShr:
		number = second_number(value);
		*bit += number < THREAD_BITS ? (int)number : THREAD_BITS;
		break;
	case LLVMShl:
		number = second_number(value);
		*bit = number < (uint64_t)*bit ? *bit - (int)number : 0;
		break;
	default:
		return NULL;
	}
	return LLVMGetOperand(value, 0);
}

static int nearness_of_value(LLVMValueRef value)
{
	enum {
		STEPS = 8
	};
	int bit = 0;

	for (int i = 0; i < STEPS && value != NULL; i++) {
		if (LLVMIsAPHINode(value) != NULL)
			return LOOP;
		if (LLVMIsACallInst(value) != NULL)
			return nearness_of_call(value, bit);
		value = source_of(value, &bit);
	}
	return UNKNOWN;
}

bool prepack_is_summed(const struct group *group,
                       const struct prepack_term *term)
{
	for (size_t i = 0; i < group->axis_count; i++) {
		if (group->axes[i].term.value == term->value &&
		    group->axes[i].term.extension == term->extension)
			return false;
	}
	return true;
}

/* For an axis that is a sum of terms: that of the nearest term. */
static int nearness_of(const struct group *group, const struct axis *axis)
{
	const struct prepack_address *address = &group->words[0]->address;
	int least = LOOP;

	if (axis->term.value != NULL)
		return nearness_of_value(axis->term.value);
	for (size_t i = 0; i < address->term_count; i++) {
		const struct prepack_term *term = &address->terms[i];
		const int one = nearness_of_value(term->value);

		if (prepack_is_summed(group, term) && one < least)
			least = one;
	}
	return least;
}

/* Bytes between neighbours on the axis. */
static int64_t distance_of(const struct axis *axis)
{
	const int64_t distance = axis->term.factor * axis->range.step;

	return distance < 0 ? -distance : distance;
}

static bool is_nearer(const struct group *group, const struct axis *a,
                      const struct axis *b)
{
	const int nearness = nearness_of(group, a);
	const int other = nearness_of(group, b);

	return nearness != other ? nearness < other
	                         : distance_of(a) < distance_of(b);
}

/*
 * The axes in which threads of a warp differ get the smallest strides, so that
 * neighbouring threads read adjacent words; if that is not known, those do whose
 * words were nearer.
 */
static void lay_out(struct group *group)
{
	group->position_count = 1;
	for (size_t i = 0; i < group->axis_count; i++)
		group->axes[i].stride = 0;
	for (size_t placed = 0; placed < group->axis_count; placed++) {
		struct axis *next = NULL;

		for (size_t i = 0; i < group->axis_count; i++) {
			struct axis *axis = &group->axes[i];

			if (axis->stride == 0 &&
			    (next == NULL || is_nearer(group, axis, next)))
				next = axis;
		}
		next->stride = group->position_count;
		group->position_count *= next->count;
	}
}

/* How many words of a position can be adjacent; 0: the loads do not fit. */
static size_t count_adjacent(struct group *group)
{
	size_t together;
	size_t largest = 1;

	group->word_count = 0;
	for (size_t i = 0; i < group->count; i++) {
		const size_t count = group->words[i]->count;

		if (group->word_count % count != 0)
			return 0;
		largest = count > largest ? count : largest;
		group->word_count += count;
	}
	together = group->word_count % 4 == 0   ? 4
	           : group->word_count % 2 == 0 ? 2
	                                        : 1;
	return together < largest ? 0 : together;
}

/* True if the code assembles words, with more loads than needed. */
static bool has_lanes(const struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		if (group->words[i]->lanes[0] != NULL)
			return true;
	}
	return false;
}

/*
 * Do threads of a warp differ in the axis? What is not known may be their index, where
 * the axis has the smallest stride.
 */
static bool is_within_warp(const struct group *group, const struct axis *axis)
{
	const int nearness = nearness_of(group, axis);

	return nearness < WARP_BITS ||
	       (nearness == UNKNOWN && axis->stride == 1);
}

/*
 * True if threads of a warp read words that are not adjacent. Where they fill whole
 * lines of memory, it does not matter which ones.
 */
static bool is_scattered(const struct group *group)
{
	const int64_t size = 4 * (int64_t)group->words[0]->count;

	for (size_t i = 0; i < group->axis_count; i++) {
		const struct axis *axis = &group->axes[i];
		const int64_t adjacent = axis->stride * size; /* bytes */

		if (axis->count > 1 && adjacent < LINE &&
		    is_within_warp(group, axis) && distance_of(axis) > adjacent)
			return true;
	}
	return false;
}

/* True if a thread reads single words that could be adjacent, but are not. */
static bool is_spread(const struct group *group)
{
	if (group->adjacent_count == 1)
		return false;
	for (size_t i = 0; i < group->count; i++) {
		const struct prepack_word *word = group->words[i];

		if (word->count != 1 ||
		    (i != 0 && word->address.offset ==
		                       group->words[i - 1]->address.offset + 4))
			return false;
	}
	return true;
}

static bool count_positions(const struct source *source, struct group *group)
{
	int64_t addresses = 1;

	for (size_t i = 0; i < group->axis_count; i++) {
		struct axis *axis = &group->axes[i];

		axis->count = (axis->range.high - axis->range.low) /
		                      axis->range.step +
		              1;
		if (axis->count > source->size)
			return false;
		addresses *= axis->count;
		if (addresses > source->size)
			return false;
	}
	lay_out(group);
	group->adjacent_count = count_adjacent(group);
	return group->adjacent_count != 0 &&
	       (has_lanes(group) || is_scattered(group) || is_spread(group));
}

/* True if the value is narrower than an address, and has at most 32 bits. */
static bool is_narrow(const struct axis *axis)
{
	return axis->term.extension != PREPACK_WHOLE &&
	       LLVMGetIntTypeWidth(LLVMTypeOf(axis->term.value)) <= 32;
}

/* Is the value the same each time that control comes to the block? */
static bool is_steady(LLVMValueRef value, LLVMBasicBlockRef block,
                      unsigned depth)
{
	if (LLVMIsAInstruction(value) == NULL ||
	    LLVMGetInstructionParent(value) != block ||
	    llvm_special_register(value) != NULL)
		return true;
	if (depth == 0 || LLVMIsAPHINode(value) != NULL ||
	    LLVMIsALoadInst(value) != NULL || LLVMIsACallInst(value) != NULL)
		return false;
	for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++) {
		if (!is_steady(LLVMGetOperand(value, i), block, depth - 1))
			return false;
	}
	return true;
}

/* Are all terms but the counter the same in each iteration? */
static bool are_others_steady(const struct group *group, LLVMValueRef counter,
                              LLVMBasicBlockRef block)
{
	enum {
		DEPTH = 4
	};
	const struct prepack_address *address = &group->words[0]->address;

	for (size_t i = 0; i < address->term_count; i++) {
		LLVMValueRef value = address->terms[i].value;

		if (value != counter && !is_steady(value, block, DEPTH))
			return false;
	}
	return true;
}

/*
 * Is the value the counter of a one-block loop that contains the group and
 * never ends early? Are the other terms the same in each iteration, so that
 * each of their values meets all of the counter's?
 */
static bool is_whole_loop(const struct group *group, LLVMValueRef counter)
{
	LLVMBasicBlockRef block =
		LLVMGetInstructionParent(group->words[0]->word);
	return LLVMIsAPHINode(counter) != NULL &&
	       LLVMGetInstructionParent(counter) == block &&
	       llvm_branches_to(block, block) &&
	       are_others_steady(group, counter, block) &&
	       prepack_is_straight(LLVMGetFirstInstruction(block), NULL);
}

/* The axis of one term. */
static struct axis axis_of(const struct group *group,
                           const struct prepack_term *term)
{
	struct axis axis = { .term = *term, .range = { .step = 1 } };

	axis.is_known = prepack_range_of(term, &axis.range);
	axis.is_whole = axis.is_known && is_whole_loop(group, term->value);
	return axis;
}

/* Make each term an axis. */
static bool find_apart(const struct source *source, struct group *group)
{
	const struct prepack_address *address = &group->words[0]->address;
	struct axis *unknown = NULL;

	group->axis_count = address->term_count;
	for (size_t i = 0; i < group->axis_count; i++) {
		struct axis *axis = &group->axes[i];

		*axis = axis_of(group, &address->terms[i]);
		if (axis->is_known)
			continue;
		if (unknown != NULL || !is_narrow(axis))
			return false;
		unknown = axis;
	}
	if (unknown != NULL && !bound_axis(source, group, unknown))
		return false;
	for (size_t i = 0; i < group->axis_count; i++) {
		if (&group->axes[i] != unknown &&
		    !bound_axis(source, group, &group->axes[i]))
			return false;
	}
	return count_positions(source, group);
}

static int64_t common_factor(int64_t a, int64_t b)
{
	while (b != 0) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/*
 * Make the sum of the terms one axis, whose step is the greatest common divisor
 * of their factors; loop counters are axes of their own. All terms are narrow,
 * so the sum is exact: it does not wrap before it is divided.
 */
static bool find_together(const struct source *source, struct group *group)
{
	const struct prepack_address *address = &group->words[0]->address;
	struct axis *sum = &group->axes[0];
	size_t summed = 0;
	int64_t factor = 0;

	group->axis_count = 1;
	for (size_t i = 0; i < address->term_count; i++) {
		const struct axis one = axis_of(group, &address->terms[i]);

		if (!is_narrow(&one) || one.term.factor > FACTOR_LIMIT ||
		    one.term.factor < -FACTOR_LIMIT)
			return false;
		if (one.is_known && nearness_of_value(one.term.value) == LOOP &&
		    group->axis_count < PREPACK_TERMS) {
			group->axes[group->axis_count++] = one;
			continue;
		}
		factor = common_factor(factor, one.term.factor);
		summed++;
	}
	if (summed < 2 || factor == 0)
		return false;
	*sum = (struct axis){ .term = { NULL, PREPACK_SIGNED, factor },
		              .range = { .step = 1 } };
	return bound_axis(source, group, sum) && count_positions(source, group);
}

bool prepack_find_axes(const struct source *source, struct group *group)
{
	struct group other = *group;

	if (!find_together(source, &other))
		return find_apart(source, group);
	if (!find_apart(source, group) ||
	    other.position_count < group->position_count)
		*group = other;
	return true;
}

int64_t prepack_word_index(const struct group *group, size_t index,
                           int64_t position)
{
	const int64_t together = (int64_t)group->adjacent_count;
	const int64_t row = (int64_t)index / together;

	return group->first +
	       (row * group->position_count + position) * together +
	       (int64_t)index % together;
}

/* The bytes that the terms add to an address at a position. */
static int64_t position_offset(const struct group *group, int64_t position)
{
	int64_t sum = 0;

	for (size_t i = 0; i < group->axis_count; i++) {
		const struct axis *axis = &group->axes[i];
		const int64_t at = position / axis->stride % axis->count;

		sum += axis->term.factor *
		       (axis->range.low + at * axis->range.step);
	}
	return sum;
}

/* Bytes outside the constant cannot be read, and stay zero. */
static void fill_word(const struct source *source,
                      const struct prepack_word *word, size_t part,
                      int64_t base, unsigned char *out)
{
	for (size_t lane = 0; lane < PREPACK_LANES; lane++) {
		const int64_t at = base + offset_of(word, 4 * part + lane);

		if (at >= 0 && at < source->size)
			out[lane] = source->bytes[at];
	}
}

static void fill_position(const struct source *source,
                          const struct group *group, int64_t position,
                          unsigned char *out)
{
	const int64_t base = position_offset(group, position);
	size_t index = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct prepack_word *word = group->words[i];

		for (size_t part = 0; part < word->count; part++) {
			fill_word(source, word, part, base,
			          out + 4 * prepack_word_index(group, index,
			                                       position));
			index++;
		}
	}
}

void prepack_fill(const struct source *source, const struct group *group,
                  unsigned char *out)
{
	for (int64_t position = 0; position < group->position_count; position++)
		fill_position(source, group, position, out);
}
