/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_MATRIX_H
#define TKBUNDLE_COMPILE_MATRIX_H

#include "cli/cli.h"

/* The results for Triton's kernels, by Python and target. */

struct compile_matrix_cell {
	char *python;  /* owned: the Python, as given or found */
	char *version; /* owned: the version of its Triton; NULL: unknown */
	char target[64];
	uint64_t compiled;
	uint64_t hit;
	uint64_t failed;
	uint64_t left;
};

struct compile_matrix {
	struct compile_matrix_cell *cells; /* owned; in their order */
	size_t count;
};

/*
 * Count a kernel.
 *
 * @param outcome  "compiled", "hit", "failed" or "left"
 * @param version  of Triton, or NULL
 * @return false: out of memory
 */
bool compile_matrix_count(struct compile_matrix *matrix, const char *python,
                          const char *target, const char *outcome,
                          const char *version);

/*
 * Add the member "matrix" to the document, and print lines if there are several
 * Pythons. Do nothing if no kernel was counted.
 */
void compile_matrix_print(struct cli *cli, const struct compile_matrix *matrix,
                          bool has_lines);

/* For TKB_AUTO. */
void compile_matrix_release(struct compile_matrix *matrix);

#endif
