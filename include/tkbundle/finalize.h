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
 * Optimize a whole module before code is generated.
 *
 *     rc = tkb_finalize(compiler, ir, &options, &out, &err);
 *
 * Takes and returns the bytes of a module; LLVM runs in a worker. The steps, in
 * their order:
 *
 *   strip         remove debug data and profiles
 *   internalize   make everything internal except the kernels to keep
 *   bind          make arguments of the kernel constants
 *   fold-globals  make globals constant that nothing writes
 *   resolve-calls call directly what is called through a constant table
 *   inline        inline functions
 *   propagate     propagate constants and copies
 *   peephole      simplify small patterns
 *   cse           compute common subexpressions once
 *   dce           remove unused code
 *   unroll        unroll loops with a known count, keep memory in registers
 *   split         make loads and stores of asynchronous copies, in a small grid
 *   read          read constants by loads, where Triton reads them by PTX
 *   gather        gather the int8 factors of a sum into words, for later steps
 *   fuse          apply rules: int8 products become dp4a; the user's own
 *   prepack       pack constant weights into words, in reading order
 *   fold          replace loads of constants by their values
 *   optimize      run LLVM's O3, but not over what Triton has optimized
 *   hoist         issue loads before the barriers of earlier ones
 *   verify        check the module
 *
 * No step changes what a kernel computes with its arguments. If `is_fast` is
 * set, rules may change how a result is rounded, where its instructions allow
 * that.
 *
 * A finalized module suits a program with a launcher of its own: a C launcher,
 * or Triton's override folder. The host can only look up globals that the
 * module marks externally_initialized: those are kept.
 */

/**
 * How a kernel is quantized. This decides which built-in rules "fuse" applies.
 * A kernel that is quantized in another way is refused.
 */
enum tkb_quant {
	TKB_QUANT_ANY, /**< whatever the kernel is; all rules */
	/**
	 * Int8 inputs times int8 weights of the module. The scale is only known
	 * when the kernel runs. The products become dp4a.
	 */
	TKB_QUANT_DYNAMIC,
	/** The same with constant scales, which are folded. */
	TKB_QUANT_STATIC,
	/**
	 * Only the weights of the module are quantized, to int8 or int4, and
	 * the kernel converts them to floats. The order of sums of floats is
	 * kept.
	 */
	TKB_QUANT_WEIGHT_ONLY
};

/**
 * A value for an argument of the kernel. The finalized kernel computes what the
 * original does with that value, and has one parameter less. The size of the grid
 * can be bound, too, if the module keeps no other kernel; a launch with another
 * grid is undefined then.
 */
struct tkb_binding {
	/**
	 * Its name in the IR, or its position there, from 0: "3". Of the grid:
	 * "nctaid.x", "nctaid.y" or "nctaid.z", as PTX names its sizes, in blocks.
	 */
	const char *argument;
	/**
	 * Of a number: "4096", "0.125". Of a pointer: the type of the memory
	 * that it points to, with its sizes: "i8[256,256]". Elements are i8,
	 * i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64.
	 */
	const char *value;
	/**
	 * The contents of that memory, little-endian; empty for a number.
	 * Refused if the kernel may write to it.
	 */
	struct tkb_bytes bytes;
	const char *file; /**< where it is from, for messages; may be NULL */
};

/** Options for tkb_finalize(). Zero means the default. */
struct tkb_finalize_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/** as in a unit, for rules that need a newer one; NULL: "cuda:80" */
	const char *target;
	/** the kernels to keep; ends with NULL; NULL: all */
	const char *const *kernels;
	/** names of steps to skip; ends with NULL; may be NULL */
	const char *const *without;
	const struct tkb_bytes *rules; /**< texts of the user's rule files */
	/** their names, for messages; NULL: they are numbered */
	const char *const *rule_names;
	size_t rule_count;
	bool is_fast;    /**< also apply rules that change rounding */
	bool is_bitcode; /**< return bitcode, not text */
	/** for the kernel, which must be the only one kept; may be NULL */
	const struct tkb_binding *bindings;
	size_t binding_count;
	enum tkb_quant quant; /**< default TKB_QUANT_ANY */
};

/**
 * Finalize `module`, LLVM IR as text or bitcode, and wait for the result. Of
 * the compiler's own options, only the timeout and the watch are used.
 *
 * @param options  not kept; NULL: all defaults
 * @param out      receives the module; ignore it unless this returns 0
 * @return 0; TKB_ERR_INVALID (bad IR, rule, step or kernel, by name; or a
 *         kernel that is not quantized as `quant` says), TKB_ERR_UNSUPPORTED
 *         (no LLVM), TKB_ERR_UNAVAILABLE (workers crashed or timed out),
 *         TKB_ERR_CANCELLED, TKB_ERR_NOMEM, or the sink's own error
 */
TKB_API TKB_NODISCARD int tkb_finalize(
	struct tkb_compiler *compiler, struct tkb_bytes module,
	const struct tkb_finalize_options *options, const struct tkb_sink *out,
	struct tkb_error *err);

/** The number of steps. */
TKB_API size_t tkb_finalize_step_count(void);

/** The name of step `index`, which is below the count: "strip". */
TKB_API const char *tkb_finalize_step_name(size_t index);

/** What the step does, in one line. */
TKB_API const char *tkb_finalize_step_text(size_t index);

#ifdef __cplusplus
}
#endif

#endif
