/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FINALIZE_H
#define TKBUNDLE_FINALIZE_H

#include <tkbundle/compile.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/finalize.h
 * Finalize a module: what can be known of the whole of it, before code is made.
 *
 *     rc = tkb_finalize(compiler, ir, &options, &out, &err);
 *
 * The bytes of a module go in and the bytes of a module come out; LLVM works in
 * a worker. The steps, in their order:
 *
 *   strip         take out debug data and profiles
 *   internalize   make all but the kernels that stay the module's own
 *   fold-globals  make constant what nothing writes
 *   resolve-calls call directly what stands in a constant table
 *   inline        put functions where they are called
 *   propagate     put constants and copies where they are used
 *   peephole      write small patterns in a simpler way
 *   cse           compute once what is computed twice
 *   dce           drop what nothing uses
 *   gather        put int8 factors of one sum into words, for what follows
 *   fuse          rewrite by rules: int8 products into dp4a, and the user's own
 *   prepack       put constant int8 weights into words, as they are read
 *   fold          read constants while compiling
 *   verify        check the module
 *
 * None of them changes what a kernel computes, unless `is_fast` is set: then
 * rules may change how a result is rounded, where its instructions allow it.
 *
 * What is finalized is for one that brings its own launch: a C launcher, or
 * Triton's override folder. The host cannot look up globals in it, but those
 * that the module calls externally_initialized: they stay as they are.
 */

/** Choices for tkb_finalize(). Zero means the default. */
struct tkb_finalize_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *target; /**< as of a unit; NULL: "cuda:80", which matters to
	                         rules that ask for a newer one */
	const char *const *kernels; /**< that stay; ends with NULL; NULL: all */
	const char *const *without; /**< names of steps that are left out; ends
	                                 with NULL; may be NULL */
	const struct tkb_bytes *rules; /**< texts of the user's rules */
	const char *const *rule_names; /**< theirs, for messages; NULL: they
	                                    are numbered */
	size_t rule_count;
	bool is_fast;    /**< rules that change rounding, too */
	bool is_bitcode; /**< give bitcode, not text */
};

/**
 * Finalize `module`, LLVM IR as text or bitcode, and wait for it. Of the
 * compiler's own choices only the time that a try has matters.
 *
 * @param options  not kept; NULL means all defaults
 * @param out      receives the module; must not use it unless 0 is returned
 * @return 0; TKB_ERR_INVALID (bad IR, rule, step or kernel: named),
 *         TKB_ERR_UNSUPPORTED (no LLVM), TKB_ERR_UNAVAILABLE (workers crashed
 *         or took too long), TKB_ERR_NOMEM, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_finalize(
	struct tkb_compiler *compiler, struct tkb_bytes module,
	const struct tkb_finalize_options *options, const struct tkb_sink *out,
	struct tkb_error *err);

/** How many steps there are. */
TKB_API size_t tkb_finalize_step_count(void);

/** The name of step `index`, which must be below the count: "strip". */
TKB_API const char *tkb_finalize_step_name(size_t index);

/** What that step does, in one line. */
TKB_API const char *tkb_finalize_step_text(size_t index);

#ifdef __cplusplus
}
#endif

#endif
