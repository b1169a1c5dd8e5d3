/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_LINK_H
#define TKB_LAUNCH_LINK_H

/* Linked launchers, shared by the files that read and write them. */

#include "launch/c_launcher.h"

/* A launcher, as described by its header. */
struct tkb_c_variant {
	const char *header;   /* name for messages */
	const char *name;     /* name of the kernel */
	const char *function; /* "<name>_<hash>_<suffix>" */
	const char *algo;     /* "<name>_<constants>_warps4xstages3" */
	struct tkb_signature signature;
	bool has_grid;
	unsigned scratch;
	struct tkb_c_argument *arguments;
	size_t argument_count;
	size_t hint_count;
	size_t number; /* number of the header */
};

/* Variants `first` to `first + count` form an algo. */
struct tkb_c_algo {
	size_t first;
	size_t count;
	size_t number; /* number of the first header that has this algo */
};

/* Algos `first` to `first + count` form a kernel. */
struct tkb_c_linked {
	const char *name;
	const struct tkb_c_variant *best; /* gives the names of the arguments */
	size_t first;
	size_t count;
};

struct tkb_c_link {
	struct tkb_arena arena; /* owns strings and arrays */
	const char *file_name;
	/* sorted by kernel, algo and number of hints */
	struct tkb_c_variant *variants;
	size_t variant_count;
	struct tkb_c_algo *algos;
	size_t algo_count;
	struct tkb_c_linked *kernels;
	size_t kernel_count;
};

/* Read a header; strings are put into `arena`. */
TKB_NODISCARD int tkb_c_variant_read(const struct tkb_c_header *header,
                                     struct tkb_arena *arena,
                                     struct tkb_c_variant *out,
                                     struct tkb_error *err);

#endif
