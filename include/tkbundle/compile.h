/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_H
#define TKBUNDLE_COMPILE_H

#include <tkbundle/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/compile.h
 * Compile kernels to cubins without a GPU, in worker processes, and leave each as
 * an entry of a cache, in Triton's shape.
 *
 *     rc = tkb_compiler_open(&options, &compiler, &err);
 *     rc = tkb_compiler_submit(compiler, &unit, &compile, &err);
 *     rc = tkb_compile_wait(compile, TKB_FOREVER, &compiled, &err);
 *     tkb_compile_free(compile);
 *     tkb_compiler_close(compiler);
 *
 * An entry's key covers the input, the options, the target, and the names and
 * versions of the tools that take part; not where anything lies. The same again
 * is a hit, and starts no process: workers are started for the first job, and
 * which tools there are is remembered in the cache root, in `.tkbundle/tools`,
 * while the files of the tools, and the places where they would be found first,
 * are as they were.
 *
 * Threads: a compiler may be used by any at the same time, a compile by one.
 * Trust: the input may be anything; what LLVM makes of it happens in a worker.
 */
struct tkb_compiler;
struct tkb_compile;
struct tkb_finalize_options;

/**
 * Is there such a target? As Triton names it: "cuda:90", "cuda:90:32".
 *
 * @return 0, or TKB_ERR_INVALID: which ones there are
 */
TKB_API TKB_NODISCARD int tkb_target_check(const char *target,
                                           struct tkb_error *err);

/** What a unit begins with. */
enum tkb_source_kind {
	TKB_SOURCE_KIND_LLIR = 1, /**< LLVM IR, text or bitcode */
	TKB_SOURCE_KIND_PTX,
	TKB_SOURCE_KIND_CUDA /**< CUDA C */
};

/** What a compile ends with. What comes before it is answered, too. */
enum tkb_product {
	TKB_PRODUCT_LLIR = 1, /**< LLVM IR, finalized where that is wanted */
	TKB_PRODUCT_PTX,
	TKB_PRODUCT_CUBIN
};

/** What makes a cubin of PTX. */
enum tkb_cubin_tool {
	TKB_CUBIN_TOOL_PTXAS,
	TKB_CUBIN_TOOL_NVJITLINK
};

/**
 * Choices for tkb_compiler_open(). Zero means the default.
 *
 * A choice that has no meaning for a unit is refused when that is submitted:
 * `finalize`, `is_optimized`, `has_pass_output` and `libdevice` are for LLVM IR,
 * `nvrtc_options` for CUDA C, `ptxas_options` where a cubin is made.
 */
struct tkb_compiler_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *worker; /**< tkbundle-compile; NULL: where it is installed,
	                         or beside the running program */
	uint32_t worker_count;    /**< as of a pool */
	const char *cache_root;   /**< where cubins go, as entries; NULL:
	                               nowhere, and nothing is remembered */
	enum tkb_product product; /**< default TKB_PRODUCT_CUBIN */
	enum tkb_cubin_tool cubin_with;
	const char *ptxas; /**< NULL: $TRITON_PTXAS_PATH, or the toolkit's */
	const char *const *ptxas_options; /**< ends with NULL; may be NULL */
	const char *const *nvrtc_options; /**< likewise: "-Ifolder", "-DX=1" */
	const char *libdevice; /**< a path, for IR that calls it; NULL:
	                            $TRITON_LIBDEVICE_PATH, or the toolkit's */
	const struct tkb_finalize_options *finalize; /**< of IR; NULL: do not */
	bool is_optimized;     /**< LLVM's O3 before code is made; Triton's IR
	                            has had that */
	bool is_fusion_off;    /**< of multiplications and additions */
	bool is_line_info_off; /**< no line numbers for profilers */
	bool has_pass_output;  /**< the IR after each pass goes to the compile's
	                         log */
	uint32_t timeout_ms;   /**< of one try; default 120000 */
	/** The source of each unit goes here before it is compiled; `write` may
	    be NULL. */
	struct tkb_sink log;
};

/**
 * Open a compiler. Its workers are started when there is something to do for
 * them, in the folder and the environment that the process has then; but which
 * tools there are depends on $PATH, $CUDA_HOME, $CUDA_PATH, $LD_LIBRARY_PATH,
 * $TRITON_PTXAS_PATH, $TRITON_PTXAS_BLACKWELL_PATH and $TRITON_LIBDEVICE_PATH as
 * they are now.
 *
 * @param options  not kept but for the log's `self`
 * @param out      receives a handle that the caller closes
 * @return 0, TKB_ERR_INVALID, TKB_ERR_IO (no worker program, a file that cannot
 *         be read) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_compiler_open(
	const struct tkb_compiler_options *options, struct tkb_compiler **out,
	struct tkb_error *err);

/**
 * End the workers, and remember which tools there are, where there is a cache
 * root by now. Compiles stay valid. Never fails; NULL is allowed.
 */
TKB_API void tkb_compiler_close(struct tkb_compiler *compiler);

/**
 * What would compile IR or PTX for a target: "LLVM 22.1.8, ptxas 13.0.88
 * (/usr/...)". A worker is asked once for each target, where the answer is not
 * remembered; submitting does so where nobody has, and for NVRTC where that is
 * needed.
 *
 * @param target  as of a unit
 * @param out     borrowed until the compiler is closed
 * @return 0; TKB_MISS (not yet); TKB_ERR_INVALID (no such target: those that
 *         there are), TKB_ERR_IO or TKB_ERR_UNSUPPORTED (a tool is not there),
 *         TKB_ERR_UNAVAILABLE (workers crash), TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_compiler_tools(struct tkb_compiler *compiler,
                                             const char *target,
                                             uint32_t timeout_ms,
                                             const char **out,
                                             struct tkb_error *err);

/** One kernel to be compiled. */
struct tkb_unit {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *name;   /**< of the input, for messages */
	const char *target; /**< "cuda:90" */
	enum tkb_source_kind kind;
	struct tkb_bytes source;
	struct tkb_bytes metadata; /**< Triton's JSON for the same kernel, whose
	                                launch attributes are kept; empty: none */
	const char *kernel;        /**< NULL: the only one there is */
	uint32_t num_warps;        /**< 0: as the metadata says, else as the
	                                code does, else 4 */
};

/** Room for the key of an entry, with its zero. */
#define TKB_ENTRY_KEY_SIZE 65

/**
 * The key that the unit's entry has or would have, also where
 * tkb_compiler_submit() refuses a choice that has no meaning for the unit. Codes
 * as of that.
 */
TKB_API TKB_NODISCARD int tkb_compiler_key(struct tkb_compiler *compiler,
                                           const struct tkb_unit *unit,
                                           char out[TKB_ENTRY_KEY_SIZE],
                                           struct tkb_error *err);

/**
 * Begin, where no whole entry of the unit's key is there. Units of equal keys
 * that are at work at the same time are compiled once.
 *
 * @param unit  all of it is copied
 * @param out   receives a compile that the caller frees
 * @return 0; what tkb_compiler_tools() fails with; TKB_ERR_INVALID (the
 *         metadata, or a choice that has no meaning for the unit),
 *         TKB_ERR_TOO_LARGE, or what the log returned
 */
TKB_API TKB_NODISCARD int tkb_compiler_submit(struct tkb_compiler *compiler,
                                              const struct tkb_unit *unit,
                                              struct tkb_compile **out,
                                              struct tkb_error *err);

/** What came of it. Borrowed until the compile is freed. */
struct tkb_compiled {
	const char *key;       /**< of the entry */
	const char *kernel;    /**< its name; "" for a hit */
	const char *tools;     /**< what made it; "" for a hit */
	bool is_hit;           /**< the entry was there: nothing was compiled */
	struct tkb_bytes llir; /**< of IR, as code was made of it; empty for a
	                            hit, as what follows */
	struct tkb_bytes ptx;  /**< empty if it was not to be made */
	struct tkb_bytes cubin; /**< likewise */
};

/**
 * Wait, and publish the entry.
 *
 * @return 0; TKB_MISS (not yet); TKB_ERR_INVALID (the input: the tool's own
 *         words), TKB_ERR_UNSUPPORTED, TKB_ERR_UNAVAILABLE (workers crashed or
 *         took too long), TKB_ERR_IO, TKB_ERR_CANCELLED, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_compile_wait(struct tkb_compile *compile,
                                           uint32_t timeout_ms,
                                           const struct tkb_compiled **out,
                                           struct tkb_error *err);

/** All that the tools said. Borrowed until the compile is freed. */
TKB_API struct tkb_bytes tkb_compile_log(struct tkb_compile *compile);

/** Cancel what is not done, and free. NULL is allowed. */
TKB_API void tkb_compile_free(struct tkb_compile *compile);

#ifdef __cplusplus
}
#endif

#endif
