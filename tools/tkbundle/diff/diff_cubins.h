/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_CUBINS_H
#define TKBUNDLE_DIFF_CUBINS_H

#include "diff/cubin_diff.h"
#include "diff/diff.h"

/*
 * Compare the parts of the cubins that differ between two sources.
 *
 * The cubins of A are copied into a file without a name, and those of B are
 * compared with them as they are read: so each frame of a bundle is decoded
 * once, and at most two cubins are in memory.
 */

/* A cubin that differs, and its differences. */
struct diff_cubin {
	const struct diff_pair *pair;
	struct diff_file file;
	uint64_t offset; /* offset of A's bytes in the file without a name */
	size_t size;
	struct cubin_diff diff;
	char *failure; /* owned; why its parts cannot be compared, or NULL */
};

/* Zeroed is empty. */
struct diff_cubins {
	struct diff_cubin *items; /* owned; in the order of the pairs */
	size_t count;
};

/*
 * @param diff  of `a` and `b`; must live until `out` is released
 * @param out   empty; released by the caller, also after a failure
 * @return 0, TKB_ERR_CORRUPT (a bundle is damaged), TKB_ERR_IO or
 *         TKB_ERR_NOMEM
 */
TKB_NODISCARD int diff_cubins(const struct source *a, const struct source *b,
                              const struct diff *diff, struct diff_cubins *out,
                              struct tkb_error *err);

/*
 * The differences of the file `file` of `pair`; NULL if its parts were not
 * compared.
 */
const struct diff_cubin *diff_cubins_find(const struct diff_cubins *cubins,
                                          const struct diff_pair *pair,
                                          const struct diff_file *file);

/* For TKB_AUTO. */
void diff_cubins_release(struct diff_cubins *cubins);

#endif
