/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TRITON_H
#define TKBUNDLE_COMPILE_TRITON_H

#include "compile/compile_matrix.h"
#include "compile/compile_triton_request.h"

/*
 * `compile` for Triton's kernels: FILE.py:KERNEL, and FILE.json, a list of such.
 *
 * Everything is done here, from opening the workers to a line, and an object in
 * the array that the caller has open in the document, for each kernel and target.
 */

/* What came of them. */
struct compile_triton_counts {
	uint64_t compiled;
	uint64_t hit;
	uint64_t failed;
	uint64_t unasked; /* of those: no launch uses them */
	uint64_t left;    /* after a failure, or for want of time */
	char tools
		[1024]; /* what took part: "Triton 3.6.0 (/usr/bin/python3)" */
	struct compile_matrix matrix; /* of the same, but "unasked" */
};

/* For TKB_AUTO. */
void compile_triton_counts_release(struct compile_triton_counts *counts);

/*
 * Compile all. Failures are printed, with the whole of what Triton said.
 *
 * @param counts  are added to
 * @return STATUS_DONE; else what the failures merge to
 */
enum status compile_triton(struct cli *cli,
                           const struct compile_triton_request *request,
                           struct compile_triton_counts *counts);

#endif
