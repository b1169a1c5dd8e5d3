/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_CHECK_H
#define TKBUNDLE_COMPILE_CHECK_H

#include "cli/args.h"

/* Check a command line of `compile`, and report what makes no sense. */

/* The operands; Triton's kernels are separate. */
struct compile_inputs {
	const char **files; /* owned */
	size_t file_count;
	const char **kernels; /* owned */
	size_t kernel_count;
};

/* Sort the operands. @return STATUS_DONE, _USAGE or _FAILED (memory) */
enum status compile_check_sort(const struct cli *cli,
                               const struct arguments *args,
                               struct compile_inputs *out);

/*
 * Do the options fit the inputs, and each other? @return STATUS_DONE or _USAGE
 */
enum status compile_check(const struct cli *cli, const struct arguments *args,
                          const struct compile_inputs *inputs);

/* For TKB_AUTO. */
void compile_check_release(struct compile_inputs *inputs);

#endif
