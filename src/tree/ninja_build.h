/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_NINJA_BUILD_H
#define TKB_TREE_NINJA_BUILD_H

/*
 * The files that a build.ninja names.
 *
 * It is read as ninja reads it: paths may hold variables of the file and of their
 * statement, and "$ ", "$:" and "$$". What cannot be known from it alone is refused
 * with TKB_REASON_METADATA: include and subninja, a dyndep, and a depfile that
 * does not go into .ninja_deps (a rule with "depfile" and without "deps").
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

struct tkb_ninja_build {
	struct tkb_arena arena; /* holds what follows */
	/* Explicit, implicit, order-only and validations; made by no statement. */
	const char **inputs; /* sorted, each once */
	size_t input_count;
	/* Explicit and implicit ones, but of no phony statement. */
	const char **outputs; /* sorted, each once */
	size_t output_count;
};

TKB_NODISCARD int tkb_ninja_build_read(struct tkb_bytes text,
                                       struct tkb_ninja_build *out,
                                       struct tkb_error *err);
void tkb_ninja_build_release(struct tkb_ninja_build *build);

#endif
