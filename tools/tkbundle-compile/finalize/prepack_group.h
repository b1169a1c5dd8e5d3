/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PREPACK_GROUP_H
#define TKB_COMPILE_PREPACK_GROUP_H

/*
 * A group is a sequence of words in one block that read the same constant with
 * the same terms. The terms span a box of positions; the new table has the words
 * of the group for each position. The range of a term is known from the code, or
 * follows from two facts: if one word of a group is read, all are, in each
 * iteration of the loop around it; and all reads are inside the constant. If
 * that is not enough to separate the terms, as for a row that is block * size +
 * thread, their sum is one axis.
 */

#include "finalize/prepack.h"

struct axis {
	struct prepack_term
		term; /* if `value` is NULL: a sum of terms, in steps */
	struct prepack_range range;
	int64_t count;
	int64_t stride; /* in number of positions */
	bool is_known;
	bool is_whole; /* the counter of a loop that never ends early */
};

struct group {
	struct prepack_word **words; /* owned; in the order of the block */
	size_t count;
	size_t word_count; /* sum over the words */
	struct axis axes[PREPACK_TERMS];
	size_t axis_count;
	int64_t position_count;
	size_t adjacent_count; /* adjacent words of one position */
	int64_t first;         /* index of its first word in the table */
};

/* A constant, and the groups that read it; their words go to one table. */
struct source {
	LLVMValueRef global;
	int64_t size;
	unsigned char *bytes; /* owned */
	struct group *groups; /* owned */
	size_t group_count;
	int64_t word_count; /* of the table */
};

/*
 * Find the ranges of all terms, and thereby the positions. False if they are
 * unknown, or repacking would gain nothing.
 */
bool prepack_find_axes(const struct source *source, struct group *group);

/*
 * True if every instruction from `from` to `to`, or to the end of the block if
 * `to` is NULL, always completes.
 */
bool prepack_is_straight(LLVMValueRef from, LLVMValueRef to);

/* Is the term part of the axis that is a sum, and has no axis of its own? */
bool prepack_is_summed(const struct group *group,
                       const struct prepack_term *term);

/* The index in the table of word `index` of a position. */
int64_t prepack_word_index(const struct group *group, size_t index,
                           int64_t position);

/* Write the group's part of the table: four bytes per word and position. */
void prepack_fill(const struct source *source, const struct group *group,
                  unsigned char *out);

/* Replace the group's words by loads from `table`. */
void prepack_read_from(const struct prepack *prepack, struct group *group,
                       LLVMValueRef table);

#endif
