/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_C_LAUNCHER_H
#define TKB_LAUNCH_C_LAUNCHER_H

/* The parts of a launcher, shared by the files that write it. */

#include <tkbundle/c_launcher.h>

#include "base/arena.h"
#include "launch/facts.h"
#include "launch/grid.h"
#include "launch/signature.h"

/* An argument that is not a constant. */
struct tkb_c_argument {
	const struct tkb_argument *item;
	const char *given; /* name in the kernel */
	const char *c;     /* name in C */
};

struct tkb_c_launcher {
	struct tkb_arena arena; /* owns strings and arrays */
	struct tkb_signature signature;
	struct tkb_facts facts;
	uint32_t num_warps;
	uint32_t num_stages;
	const char *key; /* may be "" */
	const char *name;
	const char *suffix;
	const char *function;
	const char *file_name;
	struct tkb_c_argument *arguments;
	size_t argument_count;
	bool has_grid;
	struct tkb_grid grid;
	struct tkb_bytes cubin;
};

/* More than any kernel needs, or any C compiler accepts. */
#define TKB_SOURCE_LIMIT (512 * TKB_MIB)

/* Start of the header's line for the linker, with the version of that line. */
#define TKB_LAUNCHER_LINE "// tkb-launcher: 1 "
#define TKB_ARGUMENTS_LINE "// tkb-arguments: "

/* Words for a launcher's scratch memory: bit 0 global, bit 1 profile. */
extern const char *const tkb_scratch_words[4];

/*
 * Append the parameters of a launcher's function, "CUstream stream, ...": those
 * that are passed, or with `all` also those that are always 1.
 */
void tkb_print_parameters(struct tkb_buf *out,
                          const struct tkb_c_argument *arguments, size_t count,
                          bool all, bool has_grid, unsigned scratch);

#endif
