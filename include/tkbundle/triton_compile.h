/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TRITON_COMPILE_H
#define TKBUNDLE_TRITON_COMPILE_H

#include <tkbundle/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/triton_compile.h
 * Compile Triton kernels without a GPU, with the user's own Python and Triton,
 * in worker processes. Triton itself stores the entry in the cache, under the
 * key that a launch on a GPU looks for, so the launch compiles nothing.
 *
 *     rc = tkb_triton_open(&options, &triton, &err);
 *     rc = tkb_triton_submit(triton, &unit, &compile, &err);
 *     rc = tkb_triton_wait(compile, TKB_FOREVER, &compiled, &err);
 *     tkb_triton_free(compile);
 *     tkb_triton_close(triton);
 *
 * Signatures
 * ----------
 * As Triton's own compiler takes them: an item per parameter, separated by
 * commas; trailing parameters with a default may be omitted.
 *
 *     *fp32      a pointer, of any alignment
 *     *fp32:16   a pointer that is a multiple of 16, as those of new tensors
 *     *fp32:large, *fp32:16:large  a pointer to 2 GiB or more, for HIP
 *     i32        an integer; neither 1 nor a multiple of 16
 *     i32:16     a multiple of 16
 *     i32:1      1: Triton makes it a constant
 *     i32=4096   this number, for decorators that ask for it
 *     fp32, u1   a number, a truth value
 *     1024       a constant: also 1.5, True, None, "text", and tl.float16
 *     (i32, 64)  a tuple of items
 *     tensordesc<fp16[128, 64]>  a tensor descriptor with blocks of this shape
 *
 * Triton's launch distinguishes these cases, and makes a kernel of each. A
 * signature that no launch would produce (such as `i8` for a parameter without
 * that annotation) is compiled as requested, with a note.
 *
 * Decorators
 * ----------
 * A launch leaves out the constants that @triton.autotune and
 * @triton.heuristics give, and so does the signature. A launch of an autotuned
 * kernel tries several configurations, after pruning. So a compile of such a
 * kernel compiles nothing, and has a list of choices; submit the unit again
 * with each choice. If the signature and the options do name such constants,
 * they select the configurations that have them; if no configuration has them,
 * the kernel is compiled as requested, with a note. Heuristics, pruning and
 * hooks are evaluated with what the signature tells about the arguments. If a
 * heuristic needs more, such as a value or a shape, the compile fails with
 * TKB_ERR_INVALID; if pruning needs more, no configuration is left out, and
 * there is a note.
 *
 * Inductor
 * --------
 * A file without a kernel and a signature is a module that PyTorch's Inductor
 * wrote. Its choices are the configurations of its kernels that Inductor
 * would try on a GPU. A compiled choice may have further ones: Inductor
 * tries a smaller block where a reduction uses many registers.
 *
 * Keys
 * ----
 * These are Triton's own. They depend on the source of the kernel and of the
 * functions it calls, on its line number (not on the file's name), on Triton's
 * version, on the Python that its wheel is for, on ptxas' version, and on the
 * environment. So compile with the Python and Triton that will launch the
 * kernel.
 *
 * Environment: Triton's variables (TRITON_*, and the others that its keys
 * depend on) are passed on with each unit, as they are when it is submitted.
 *
 * Threads: as for a pool.
 *
 * Trust: the Python file is executed.
 */
struct tkb_triton;
struct tkb_triton_compile;

/** A variable of the environment that enters Triton's keys. */
struct tkb_triton_variable {
	const char *name;
	bool is_in_newest; /**< enters those of Triton 3.6, not only of older
	                        ones */
};

/** Variable `index`, by name; NULL: there are no more. */
TKB_API const struct tkb_triton_variable *tkb_triton_variable(size_t index);

/** Options for tkb_triton_open(). Zero means the default. */
struct tkb_triton_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *python; /**< a path, or a name on $PATH; NULL:
	                         $VIRTUAL_ENV/bin/python3, or python3 */
	/** NULL: as Triton finds it, by $TRITON_PTXAS_PATH or its own */
	const char *ptxas;
	/** triton_worker.py; NULL: the installed one, or one in our folder */
	const char *worker;
	uint32_t worker_count; /**< as in tkb_pool_options */
	/** where entries are stored; NULL: as the environment says */
	const char *cache_root;
	uint32_t timeout_ms; /**< per try; default 300000 */
	/** Receives each unit's file before it is compiled; may be zeroed. */
	struct tkb_sink log;
	/** Copied. is_cancelled() is asked as for a pool. */
	const struct tkb_watch *watch;
	bool has_pass_output; /**< log the IR after each of Triton's passes */
};

/**
 * Start the workers.
 *
 * @param options  not kept, except the log's `self`
 * @param out      receives a handle that the caller closes
 * @return 0, TKB_ERR_INVALID, TKB_ERR_IO (no such Python or ptxas, no worker),
 *         TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_triton_open(
	const struct tkb_triton_options *options, struct tkb_triton **out,
	struct tkb_error *err);

/** End the workers. Compiles stay valid. NULL is allowed. */
TKB_API void tkb_triton_close(struct tkb_triton *triton);

/** The Python interpreter that the workers run. Borrowed. */
TKB_API const char *tkb_triton_python(const struct tkb_triton *triton);

/**
 * A kernel that was compiled before, to be compiled again. Its signature comes
 * from the specialisation or, if there is none, from the unit's metadata and
 * the IR; these have no constants, which are then found by trying. Its source
 * is the module that the specialisation names, or the file that the IR names,
 * at that path or below a folder of $PYTHONPATH. The source must make the
 * recorded kernel; if that cannot be checked, there is a note.
 */
struct tkb_triton_recorded {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *key;    /**< of its entry */
	struct tkb_bytes specialisation; /**< JSON; may be empty */
	struct tkb_bytes ir;             /**< the entry's .ttir; may be empty */
};

/**
 * A kernel to compile. Zero means the default.
 *
 * The file may also be Triton's IR: .ttir, .ttgir, or .glir (which needs Triton
 * 3.9). Such a file has one kernel and its types; all but .ttir also have its
 * number of warps. The entry is the one that triton.compile(path) makes.
 */
struct tkb_triton_unit {
	size_t struct_size;    /**< sizeof it, as the caller was built */
	const char *file;      /**< the Python file, or IR. Required */
	const char *kernel;    /**< in the file. Required, except for IR */
	const char *signature; /**< required, except for IR */
	const char *target;    /**< "cuda:90". Required */
	uint32_t num_warps;    /**< default: Triton's */
	uint32_t num_stages;   /**< default: Triton's */
	/** More launch options, as a JSON object: {"num_ctas": 2}; or NULL. */
	const char *options;
	/**
	 * For IR, and for recorded kernels: the metadata that Triton wrote for
	 * the same kernel. It has the launch options that are not given here.
	 * May be empty.
	 */
	struct tkb_bytes metadata;
	/** One of the choices that a compile of this unit listed; or NULL. */
	const char *choice;
	/**
	 * For a module of Inductor's: use only the configurations that its
	 * .best_config files name.
	 */
	bool has_only_winners;
	/**
	 * "ttir", "glir", "ttgir", "llir", "ptx" or "cubin": stop at this
	 * stage, and return its product; no entry is made. NULL: make an entry.
	 */
	const char *stage;
	/** What was recorded about a kernel; NULL: the kernel is in a file. */
	const struct tkb_triton_recorded *recorded;
};

/**
 * Start compiling. All of `unit` is copied.
 *
 * @return 0, TKB_MISS (no such file), TKB_ERR_INVALID,
 *         TKB_ERR_IO, TKB_ERR_TOO_LARGE, TKB_ERR_NOMEM, or the log's own error
 */
TKB_API TKB_NODISCARD int tkb_triton_submit(struct tkb_triton *triton,
                                            const struct tkb_triton_unit *unit,
                                            struct tkb_triton_compile **out,
                                            struct tkb_error *err);

/** The result of a compile. Borrowed until the compile is freed. */
struct tkb_triton_compiled {
	const char *key;    /**< of the entry: the name of its folder */
	const char *hash;   /**< the key in hexadecimal, as Triton reports it */
	const char *folder; /**< of the entry; "" with a stage */
	const char *kernel; /**< the name of the entry's files */
	bool is_hit;        /**< the entry existed: nothing was compiled */
	const char *version; /**< Triton's: "3.6.0" */
	const char *note;    /**< what a user should know; or "" */
	bool is_unasked; /**< no launch uses this kernel: the note says why */
	/**
	 * Configurations that a launch would try, such as "0 BLOCK=64
	 * num_warps=4". If nothing was compiled, key, hash, folder and kernel
	 * are empty.
	 */
	const char *const *choices;
	size_t choice_count;
	struct tkb_bytes product; /**< of the stage that the unit names */
};

/**
 * Wait for the compile.
 *
 * @return 0; TKB_MISS (not done yet); TKB_ERR_INVALID (the file, the kernel,
 *         the signature or an option), TKB_ERR_UNSUPPORTED (no Triton, or one
 *         that is too old), TKB_ERR_UNAVAILABLE (workers crashed or timed out),
 *         TKB_ERR_CANCELLED, TKB_ERR_IO, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_triton_wait(
	struct tkb_triton_compile *compile, uint32_t timeout_ms,
	const struct tkb_triton_compiled **out, struct tkb_error *err);

/** Output of Triton and of the file. Borrowed until the compile is freed. */
TKB_API struct tkb_bytes tkb_triton_log(struct tkb_triton_compile *compile);

/** Cancel a running compile, and free it. NULL is allowed. */
TKB_API void tkb_triton_free(struct tkb_triton_compile *compile);

/**
 * A list of kernels: a JSON array of objects
 *
 *     {"file": "kernels.py", "kernel": "add_kernel",
 *      "signature": "*fp32:16, *fp32:16, *fp32:16, i32, 1024",
 *      "num_warps": 4, "num_stages": 3, "options": {"num_ctas": 1},
 *      "targets": ["cuda:90", "cuda:100"], "python": "/opt/venv/bin/python3"}
 *
 * The first three members are required. A file is relative to the list's
 * folder, as is a python with a slash. "signature" may be an array.
 */
struct tkb_triton_list;

/** A kernel of a list, with one signature. Borrowed from the list. */
struct tkb_triton_item {
	const struct tkb_triton_unit *unit; /**< its target is NULL */
	const char *python;                 /**< NULL: the caller's default */
	const char *const *targets;
	size_t target_count; /**< 0: the caller's default */
};

/**
 * Read the list at `path`.
 *
 * @param out  receives a list that the caller frees
 * @return 0, TKB_MISS (no such file), TKB_ERR_INVALID (what is
 *         wrong, and where), TKB_ERR_TOO_LARGE, TKB_ERR_IO, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_triton_list_read(const char *path,
                                               struct tkb_triton_list **out,
                                               struct tkb_error *err);

/** The number of items. */
TKB_API size_t tkb_triton_list_count(const struct tkb_triton_list *list);

/** Item `index`, which is below the count. Borrowed. */
TKB_API const struct tkb_triton_item *tkb_triton_list_item(
	const struct tkb_triton_list *list, size_t index);

/** Free the list. Never fails; NULL is allowed. */
TKB_API void tkb_triton_list_free(struct tkb_triton_list *list);

#ifdef __cplusplus
}
#endif

#endif
