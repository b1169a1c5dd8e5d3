/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TRITON_H
#define TKBUNDLE_COMPILE_TRITON_H

#include <tkbundle/triton_compile.h>

#include "args.h"
#include "cli.h"
#include "deadline.h"

/*
 * `compile` for Triton's kernels: FILE.py:KERNEL, and FILE.json, a list of such.
 *
 * Everything is done here, from opening the workers to a line, and an object in
 * the array that the caller has open in the document, for each kernel and target.
 */

/* Is it FILE.py:KERNEL or FILE.json? */
bool compile_triton_is_input(const char *operand);

/* Is it FILE.json? Such a list names signatures, and may name targets. */
bool compile_triton_is_list(const char *operand);

/* What is to be compiled. All is borrowed; zero means the default. */
struct compile_triton_order {
	const char *const *inputs; /* for which the above is true */
	size_t input_count;
	const char *signature;  /* of FILE.py:KERNEL, which needs one */
	const char *python;     /* a path or a name */
	const char *ptxas;      /* a path; NULL: as Triton finds it */
	const char *cache_root; /* NULL: Triton's own */
	uint32_t num_warps;     /* 0: Triton's default, or the list's */
	uint32_t num_stages;
	const struct tkb_target *targets; /* for all; a kernel of a list may
	                                     name its own */
	size_t target_count;
	uint32_t worker_count;
	struct deadline deadline; /* of all of it */
	bool keep_going;          /* after a failure go on with the rest */
	bool is_verbose;          /* a line for each, and what Triton says */
	bool is_json;             /* print no lines of results */
	struct tkb_sink log;      /* as of tkb_triton_options */
};

/* What came of them. */
struct compile_triton_counts {
	uint64_t compiled;
	uint64_t hit;
	uint64_t failed;
	uint64_t left; /* after a failure, or for want of time */
	char tools
		[1024]; /* what took part: "Triton 3.6.0 (/usr/bin/python3)" */
};

/*
 * Compile all. Failures are printed, with the whole of what Triton said.
 *
 * @param counts  are added to
 * @return STATUS_DONE; else what the failures merge to
 */
enum status compile_triton(struct cli *cli,
                           const struct compile_triton_order *order,
                           struct compile_triton_counts *counts);

#endif
