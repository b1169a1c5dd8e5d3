/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_H
#define TKBUNDLE_DIFF_H

#include "report/source.h"

/*
 * Compare two sources by their lists: sizes and digests, not contents.
 *
 *     TKB_AUTO(diff_release) struct diff diff = { 0 };
 *
 *     rc = diff_sources(&a, &b, &diff, &err);
 *     for (size_t i = 0; i < diff.count; i++)
 *             ... diff.pairs[i] ...
 *
 * Entries with the same identity (key and platform) are compared: first those
 * that share a device, then the rest, in order.
 */

enum diff_state {
	DIFF_EQUAL,
	DIFF_DIFFERS,
	DIFF_ONLY_A,
	DIFF_ONLY_B
};

struct diff_pair {
	const struct tkb_entry *a; /* NULL if only B has it */
	const struct tkb_entry *b;
	size_t a_index; /* index in its source */
	size_t b_index;
	enum diff_state state;
	unsigned facts; /* facts that differ: a set of enum diff_fact_flag */
};

struct diff {
	struct diff_pair *pairs; /* owned; in the order of a bundle */
	size_t count;
	uint64_t counts[4]; /* numbers of pairs, by state */
};

/* The entry that exists; A's if both do. */
const struct tkb_entry *diff_entry(const struct diff_pair *pair);

/* A file that differs between the two entries of a pair. */
struct diff_file {
	const char *name;
	const struct tkb_file *a; /* NULL if only B has it */
	const struct tkb_file *b;
	size_t a_index; /* index in its entry */
	size_t b_index;
};

/*
 * @param a  opened and hashed, like `b`; must live until `out` is released
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int diff_sources(const struct source *a, const struct source *b,
                               struct diff *out, struct tkb_error *err);

/* For TKB_AUTO. */
void diff_release(struct diff *diff);

/*
 * Find the next file that differs in a pair: first the files of A, then those
 * that only B has. `*at` is 0 at first.
 *
 * @return false if there is no more
 */
bool diff_next_file(const struct diff_pair *pair, size_t *at,
                    struct diff_file *out);

#endif
