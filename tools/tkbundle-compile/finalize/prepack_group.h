/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PREPACK_GROUP_H
#define TKB_COMPILE_PREPACK_GROUP_H

/*
 * Words of one block that read the same constant by the same terms are a group.
 * A group's terms span a box of places; the new table has, for each of them, the
 * words of the group. A term's values are known from the code, or from this: all
 * words of a group are read whenever one is, and what is read lies in the
 * constant.
 */

#include "finalize/prepack.h"

struct axis {
	struct prepack_term term;
	struct prepack_range range;
	int64_t count;
	int64_t stride; /* in places */
	bool is_known;
};

struct group {
	struct prepack_word **words; /* owned; in the block's order */
	size_t count;
	size_t word_count; /* of all of them together */
	struct axis axes[PREPACK_TERMS];
	size_t axis_count;
	int64_t place_count;
	size_t side_by_side; /* words of one place that lie together */
};

/* A constant, and all groups that read it. */
struct source {
	LLVMValueRef global;
	int64_t size;
	unsigned char *bytes; /* owned */
	struct group *groups; /* owned */
	size_t group_count;
};

/*
 * Find the values of all terms, and so the places. False: they are not known, or
 * nothing would be gained.
 */
bool prepack_find_axes(const struct source *source, struct group *group);

/* Where word `index` of place `place` stands in the group's table. */
int64_t prepack_word_index(const struct group *group, size_t index,
                           int64_t place);

/* Write the group's table: four bytes for each word of each place. */
void prepack_fill(const struct source *source, const struct group *group,
                  unsigned char *out);

/* Read the group's words out of `table`. */
void prepack_read_from(const struct prepack *prepack, struct group *group,
                       LLVMValueRef table);

#endif
