/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_CUBINS_H
#define TKBUNDLE_DIFF_CUBINS_H

#include "diff/cubin_diff.h"
#include "diff/diff.h"

/*
 * The cubins that differ between two sources, taken apart.
 *
 * A's are copied into a file without a name, and B's compared as they come
 * by: so each frame of a bundle is decoded once, and two cubins at most are
 * in memory.
 */

/* One file that differs, and how. */
struct diff_cubin {
	const struct diff_pair *pair;
	struct diff_file file;
	uint64_t offset; /* of A's bytes in the file without a name */
	size_t size;
	struct cubin_diff diff;
	char *failure; /* owned; why it cannot be taken apart, or NULL */
};

/* Zeroed is empty. */
struct diff_cubins {
	struct diff_cubin *items; /* owned; in the order of the pairs */
	size_t count;
};

/*
 * @param diff  of `a` and `b`; lent until `out` is released
 * @param out   empty; released by the caller, also after a failure
 * @return 0, TKB_ERR_CORRUPT (a bundle is damaged), TKB_ERR_IO or
 *         TKB_ERR_NOMEM
 */
TKB_NODISCARD int diff_cubins(const struct source *a, const struct source *b,
                              const struct diff *diff, struct diff_cubins *out,
                              struct tkb_error *err);

/* How file `file` of `pair` differs; NULL if it was not taken apart. */
const struct diff_cubin *diff_cubins_find(const struct diff_cubins *cubins,
                                          const struct diff_pair *pair,
                                          const struct diff_file *file);

/* For TKB_AUTO. */
void diff_cubins_release(struct diff_cubins *cubins);

#endif
