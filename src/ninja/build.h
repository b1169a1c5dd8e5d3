/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_BUILD_H
#define TKB_NINJA_BUILD_H

/*
 * The files that a build.ninja names, and the commands that make them.
 *
 * It is read as ninja reads it: paths may contain variables of the file and of
 * their statement, and "$ ", "$:" and "$$". If the file alone does not say
 * everything, it is refused with TKB_REASON_METADATA: for include, subninja or
 * a dyndep, or for a depfile that ninja does not add to .ninja_deps (a rule
 * with "depfile" and without "deps").
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "ninja/place.h"

/* A statement that is not phony. */
struct tkb_ninja_edge {
	const char **outputs; /* explicit and implicit ones */
	size_t output_count;
	/* Explicit and implicit ones. If one is newer, ninja builds again. */
	const char **inputs;
	size_t input_count;
	const char *command; /* as ninja hashes it, see hash.h */
	bool is_restat;      /* its outputs may be older than its inputs */
	bool has_deps;       /* the first output must have dependencies */
};

struct tkb_ninja_build {
	struct tkb_arena arena; /* owns the following */
	struct tkb_ninja_edge *edges;
	size_t edge_count;
	/* Explicit, implicit, order-only and validations, but no outputs of
	   statements. */
	const char **inputs; /* sorted, without duplicates */
	size_t input_count;
	/* Explicit and implicit ones, but not of phony statements. */
	const char **outputs; /* sorted, without duplicates */
	size_t output_count;
};

/* Read the build.ninja of a folder. */
TKB_NODISCARD int tkb_ninja_build_of(const struct tkb_ninja_place *place,
                                     struct tkb_ninja_build *out,
                                     struct tkb_error *err);
TKB_NODISCARD int tkb_ninja_build_read(struct tkb_bytes text,
                                       struct tkb_ninja_build *out,
                                       struct tkb_error *err);
void tkb_ninja_build_release(struct tkb_ninja_build *build);

#endif
