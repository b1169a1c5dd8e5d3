/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_LINK_H
#define TKB_LAUNCH_LINK_H

/* What is under one function, for those who write it down. */

#include "launch/c_launcher.h"

/* One launcher, by what its header tells. */
struct tkb_c_variant {
	const char *header;   /* for messages */
	const char *name;     /* of the kernel */
	const char *function; /* "<name>_<hash>_<suffix>" */
	const char *algo;     /* "<name>_<constants>_warps4xstages3" */
	struct tkb_signature signature;
	bool has_grid;
	unsigned scratch;
	struct tkb_c_argument *arguments;
	size_t argument_count;
	size_t hint_count;
	size_t number; /* of the header */
};

/* Variants `first` to `first + count` are those of one algo. */
struct tkb_c_algo {
	size_t first;
	size_t count;
	size_t number; /* of the first header that has it */
};

/* Likewise, algos of one kernel. */
struct tkb_c_linked {
	const char *name;
	const struct tkb_c_variant *best; /* whose names of arguments are the
	                                     kernel's */
	size_t first;
	size_t count;
};

struct tkb_c_link {
	struct tkb_arena arena; /* strings and arrays are there */
	const char *file_name;
	struct tkb_c_variant *variants; /* by kernel, algo and demands */
	size_t variant_count;
	struct tkb_c_algo *algos;
	size_t algo_count;
	struct tkb_c_linked *kernels;
	size_t kernel_count;
};

/* Read one header; strings are put into `arena`. */
TKB_NODISCARD int tkb_c_variant_read(const struct tkb_c_header *header,
                                     struct tkb_arena *arena,
                                     struct tkb_c_variant *out,
                                     struct tkb_error *err);

#endif
