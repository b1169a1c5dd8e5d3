/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TRITON_H
#define TKBUNDLE_COMPILE_TRITON_H

#include "compile/compile_matrix.h"
#include "compile/compile_triton_request.h"

/*
 * `compile` for Triton's kernels: FILE.py:KERNEL, and FILE.json, a list of
 * these.
 *
 * This does everything, from opening the workers to printing a line for each
 * kernel and target, and adding an object to the open array of the document.
 */

/* The results. */
struct compile_triton_counts {
	uint64_t compiled;
	uint64_t hit;
	uint64_t failed;
	uint64_t unasked; /* number of these that no launch uses */
	uint64_t left;    /* not done: after a failure, or no time was left */
	char tools[1024]; /* used tools: "Triton 3.6.0 (/usr/bin/python3)" */
	struct compile_matrix matrix; /* these counts by Python, but unasked */
};

/* For TKB_AUTO. */
void compile_triton_counts_release(struct compile_triton_counts *counts);

/*
 * Compile all kernels. Failures are printed, with Triton's whole output.
 *
 * @param counts  the results are added to these
 * @return STATUS_DONE, or the merged status of the failures
 */
enum status compile_triton(struct cli *cli,
                           const struct compile_triton_request *request,
                           struct compile_triton_counts *counts);

#endif
