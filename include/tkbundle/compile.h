/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_H
#define TKBUNDLE_COMPILE_H

#include <tkbundle/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/compile.h
 * Compile kernels to cubins without a GPU, in worker processes, and store each
 * as a cache entry in Triton's shape.
 *
 *     rc = tkb_compiler_open(&options, &compiler, &err);
 *     rc = tkb_compiler_submit(compiler, &unit, &compile, &err);
 *     rc = tkb_compile_wait(compile, TKB_FOREVER, &compiled, &err);
 *     tkb_compile_free(compile);
 *     tkb_compiler_close(compiler);
 *
 * An entry's key covers the input, the options, the target, and the names and
 * versions of the tools involved, but no paths: only for CUDA C with line numbers
 * also tkb_unit.name and the folders of -I. Compiling the same again is a hit,
 * and starts no process: workers are started only for the first job. The
 * file `.tkbundle/tools` in the cache root remembers which tools exist. It is
 * valid as long as the files of the tools, and the paths that are searched
 * before them, are unchanged.
 *
 * Threads: a compiler may be used by several threads at the same time, a
 * compile by one.
 *
 * Trust: the input may be anything; LLVM reads it in a worker.
 */
struct tkb_compiler;
struct tkb_compile;
struct tkb_finalize_options;

/**
 * Check the name of a target, in Triton's spelling: "cuda:90", "cuda:90:32".
 * Triton's kernels can also have targets such as "hip:gfx942".
 *
 * @return 0, or TKB_ERR_INVALID with a list of the targets
 */
TKB_API TKB_NODISCARD int tkb_target_check(const char *target,
                                           struct tkb_error *err);

/** The language of a unit's source. */
enum tkb_source_kind {
	TKB_SOURCE_KIND_LLIR = 1, /**< LLVM IR, text or bitcode */
	TKB_SOURCE_KIND_PTX,
	TKB_SOURCE_KIND_CUDA /**< CUDA C */
};

/** The product to stop at. Those before it are returned as well. */
enum tkb_product {
	/** LLVM IR, after finalize if that was asked for */
	TKB_PRODUCT_LLIR = 1,
	TKB_PRODUCT_PTX,
	TKB_PRODUCT_CUBIN
};

/** The tool that makes a cubin from PTX. */
enum tkb_cubin_tool {
	TKB_CUBIN_TOOL_PTXAS,
	TKB_CUBIN_TOOL_NVJITLINK
};

/**
 * Options for tkb_compiler_open(). Zero means the default.
 *
 * tkb_compiler_submit() refuses an option that does not suit the unit:
 * `finalize`, `is_optimized`, `has_pass_output` and `libdevice` are for LLVM
 * IR, `nvrtc_options` for CUDA C, `ptxas_options` for a cubin.
 */
struct tkb_compiler_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/** tkbundle-compile; NULL: the installed one, or one in our folder */
	const char *worker;
	uint32_t worker_count; /**< as in tkb_pool_options */
	/** where cubins are stored as entries; NULL: nowhere */
	const char *cache_root;
	enum tkb_product product; /**< default TKB_PRODUCT_CUBIN */
	enum tkb_cubin_tool cubin_with;
	const char *ptxas; /**< NULL: $TRITON_PTXAS_PATH, or the toolkit's */
	const char *const *ptxas_options; /**< ends with NULL; may be NULL */
	const char *const *nvrtc_options; /**< the same: "-Ifolder", "-DX=1" */
	/**
	 * for IR that calls it; NULL: $TRITON_LIBDEVICE_PATH, or the toolkit's
	 */
	const char *libdevice;
	const struct tkb_finalize_options *finalize; /**< of IR; NULL: none */
	bool is_optimized;     /**< run LLVM's O3; not needed for Triton's IR */
	bool is_fusion_off;    /**< do not fuse multiplications and additions */
	bool is_line_info_off; /**< no line numbers for profilers */
	bool has_pass_output;  /**< log the IR after each pass */
	uint32_t timeout_ms;   /**< per try; default 120000 */
	/** Receives each unit's source before it is compiled; may be zeroed. */
	struct tkb_sink log;
	/** Copied. is_cancelled() is asked as for a pool. */
	const struct tkb_watch *watch;
};

/**
 * Open a compiler. Its workers are started for the first job, with the working
 * directory and environment of that moment. But the tools are chosen by $PATH,
 * $CUDA_HOME, $CUDA_PATH, $LD_LIBRARY_PATH, $TRITON_PTXAS_PATH,
 * $TRITON_PTXAS_BLACKWELL_PATH and $TRITON_LIBDEVICE_PATH as they are when the
 * compiler is opened.
 *
 * @param options  not kept, except the log's `self`
 * @param out      receives a handle that the caller closes
 * @return 0, TKB_ERR_INVALID, TKB_ERR_IO (no worker program, an unreadable
 *         file) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_compiler_open(
	const struct tkb_compiler_options *options, struct tkb_compiler **out,
	struct tkb_error *err);

/**
 * End the workers, and remember the tools if a cache root exists by then.
 * Compiles stay valid. Never fails; NULL is allowed.
 */
TKB_API void tkb_compiler_close(struct tkb_compiler *compiler);

/**
 * The tools that compile IR or PTX for a target: "LLVM 22.1.8, ptxas 13.0.88
 * (/usr/...)". Asks a worker once per target, unless the answer is remembered.
 * tkb_compiler_submit() does the same, including NVRTC for CUDA C.
 *
 * @param target  as in a unit
 * @param out     borrowed until the compiler is closed
 * @return 0; TKB_MISS (not known yet); TKB_ERR_INVALID (no such target, with a
 *         list), TKB_ERR_IO or TKB_ERR_UNSUPPORTED (a tool is missing),
 *         TKB_ERR_UNAVAILABLE (workers crash), TKB_ERR_CANCELLED,
 *         TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_compiler_tools(struct tkb_compiler *compiler,
                                             const char *target,
                                             uint32_t timeout_ms,
                                             const char **out,
                                             struct tkb_error *err);

/** A kernel to compile. */
struct tkb_unit {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/**
	 * The input's name, for messages; of CUDA C its path, beside which
	 * headers are looked for
	 */
	const char *name;
	const char *target; /**< "cuda:90" */
	enum tkb_source_kind kind;
	struct tkb_bytes source;
	/**
	 * Triton's JSON for this kernel, with its launch attributes; or empty
	 */
	struct tkb_bytes metadata;
	const char *kernel; /**< NULL: the only one in the source */
	/** 0: as in the metadata, else as in the code, else 4 */
	uint32_t num_warps;
};

/** Size of an entry's key, with its terminating zero. */
#define TKB_ENTRY_KEY_SIZE 65

/**
 * The key that the unit's entry has, or would have. It is computed even if
 * tkb_compiler_submit() would refuse an option. In all other cases this fails
 * like that function.
 */
TKB_API TKB_NODISCARD int tkb_compiler_key(struct tkb_compiler *compiler,
                                           const struct tkb_unit *unit,
                                           char out[TKB_ENTRY_KEY_SIZE],
                                           struct tkb_error *err);

/**
 * Start compiling, unless a whole entry with the unit's key exists. Units with
 * the same key that run at the same time are compiled once.
 *
 * @param unit  copied in full
 * @param out   receives a compile that the caller frees
 * @return 0; errors of tkb_compiler_tools(); TKB_ERR_INVALID (the metadata, or
 *         an option that does not suit the unit), TKB_ERR_TOO_LARGE, or the
 *         log's own error
 */
TKB_API TKB_NODISCARD int tkb_compiler_submit(struct tkb_compiler *compiler,
                                              const struct tkb_unit *unit,
                                              struct tkb_compile **out,
                                              struct tkb_error *err);

/** The result of a compile. Borrowed until the compile is freed. */
struct tkb_compiled {
	const char *key;    /**< of the entry */
	const char *kernel; /**< name of the kernel; "" for a hit */
	const char *tools;  /**< the tools that made it; "" for a hit */
	bool is_hit;        /**< the entry existed: nothing was compiled */
	/** the compiled IR, if any; empty for a hit, like the following */
	struct tkb_bytes llir;
	struct tkb_bytes ptx;   /**< empty if not asked for */
	struct tkb_bytes cubin; /**< empty if not asked for */
	/** what made the entry, for tkb_makers_note(); "" for a hit, or if no
	    entry was stored */
	const char *maker;
};

/**
 * Wait for the compile, and publish its entry.
 *
 * @return 0; TKB_MISS (not done yet); TKB_ERR_INVALID (the input, in the tool's
 *         own words), TKB_ERR_UNSUPPORTED, TKB_ERR_UNAVAILABLE (workers crashed
 *         or timed out), TKB_ERR_IO, TKB_ERR_CANCELLED, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_compile_wait(struct tkb_compile *compile,
                                           uint32_t timeout_ms,
                                           const struct tkb_compiled **out,
                                           struct tkb_error *err);

/** The tools' output. Borrowed until the compile is freed. */
TKB_API struct tkb_bytes tkb_compile_log(struct tkb_compile *compile);

/** Cancel a running compile, and free it. NULL is allowed. */
TKB_API void tkb_compile_free(struct tkb_compile *compile);

#ifdef __cplusplus
}
#endif

#endif
