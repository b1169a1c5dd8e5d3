/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_BUILD_H
#define TKB_NINJA_BUILD_H

/*
 * The files that a build.ninja names, and the commands that make them.
 *
 * It is read as ninja reads it: paths may hold variables of the file and of their
 * statement, and "$ ", "$:" and "$$". What cannot be known from it alone is refused
 * with TKB_REASON_METADATA: include and subninja, a dyndep, and a depfile that
 * does not go into .ninja_deps (a rule with "depfile" and without "deps").
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* A statement that is not phony. */
struct tkb_ninja_edge {
	const char **outputs; /* explicit and implicit */
	size_t output_count;
	/* Explicit and implicit ones: if one is newer, ninja builds again. */
	const char **inputs;
	size_t input_count;
	const char *command; /* as ninja hashes it, see hash.h */
	bool is_restat;      /* its outputs may be older than its inputs */
	bool has_deps;       /* the first output must have dependencies */
};

struct tkb_ninja_build {
	struct tkb_arena arena; /* holds what follows */
	struct tkb_ninja_edge *edges;
	size_t edge_count;
	/* Explicit, implicit, order-only and validations; made by no statement. */
	const char **inputs; /* sorted, each once */
	size_t input_count;
	/* Explicit and implicit ones, but of no phony statement. */
	const char **outputs; /* sorted, each once */
	size_t output_count;
};

/* Is `path` one of `paths`, which are sorted? */
bool tkb_ninja_build_has(const char *const *paths, size_t count,
                         const char *path);

TKB_NODISCARD int tkb_ninja_build_read(struct tkb_bytes text,
                                       struct tkb_ninja_build *out,
                                       struct tkb_error *err);
void tkb_ninja_build_release(struct tkb_ninja_build *build);

#endif
