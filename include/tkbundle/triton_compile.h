/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TRITON_COMPILE_H
#define TKBUNDLE_TRITON_COMPILE_H

#include <tkbundle/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/triton_compile.h
 * Compile Triton's kernels without a GPU, by the user's own Python and Triton, in
 * worker processes. Triton itself leaves the entry in the cache, under the key
 * that a launch on the GPU asks for: there it compiles nothing.
 *
 *     rc = tkb_triton_open(&options, &triton, &err);
 *     rc = tkb_triton_submit(triton, &unit, &compile, &err);
 *     rc = tkb_triton_wait(compile, TKB_FOREVER, &compiled, &err);
 *     tkb_triton_free(compile);
 *     tkb_triton_close(triton);
 *
 * Signatures
 * ----------
 * As Triton's own compiler takes them: an item for each parameter, separated by
 * commas; those at the end that have a default may be left out.
 *
 *     *fp32      a pointer, of any alignment
 *     *fp32:16   one that is a multiple of 16, as those of new tensors are
 *     i32        an integer; neither 1 nor a multiple of 16
 *     i32:16     a multiple of 16
 *     i32:1      1: Triton makes it a constant
 *     fp32, u1   a number, a truth value
 *     1024       a constant: also 1.5, True, None, "text", and tl.float16
 *
 * A launch of Triton's tells these cases apart, and makes a kernel of each. What
 * no launch would make of a parameter (an `i8` that is not annotated so) is
 * compiled as it is asked for, and noted.
 *
 * Keys
 * ----
 * Triton's own: they depend on the text of the kernel and of what it calls, on the
 * line where it stands (not on the file's name), on Triton's version, on the
 * Python that its wheel is for, on ptxas' version, and on the environment. So
 * compile with the Python and the Triton that will launch.
 *
 * Environment: Triton's variables (TRITON_*, and the others of which its keys
 * depend), as they are when a unit is submitted, go with it.
 *
 * Threads: as a pool. Trust: the file is run, as Python runs it.
 */
struct tkb_triton;
struct tkb_triton_compile;

/** Choices for tkb_triton_open(). Zero means the default. */
struct tkb_triton_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *python; /**< a path, or a name on $PATH; NULL:
	                         $VIRTUAL_ENV/bin/python3, or python3 */
	const char *ptxas;  /**< a path; NULL: as Triton finds it, by
	                         $TRITON_PTXAS_PATH or among its own files */
	const char *worker; /**< triton_worker.py; NULL: where it is installed,
	                         or beside the running program */
	uint32_t worker_count;  /**< as of a pool */
	const char *cache_root; /**< where entries go; NULL: to Triton's own
	                             cache, as the environment names it */
	uint32_t timeout_ms;    /**< of one try; default 300000 */
	/** The file of each unit goes here before it is compiled; `write` may be
	    NULL. */
	struct tkb_sink log;
};

/**
 * Start the workers.
 *
 * @param options  not kept but for the log's `self`
 * @param out      receives a handle that the caller closes
 * @return 0, TKB_ERR_INVALID, TKB_ERR_IO (no such Python or ptxas, no worker),
 *         TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_triton_open(
	const struct tkb_triton_options *options, struct tkb_triton **out,
	struct tkb_error *err);

/** End the workers. Compiles stay valid. NULL is allowed. */
TKB_API void tkb_triton_close(struct tkb_triton *triton);

/** What Python runs. Borrowed. */
TKB_API const char *tkb_triton_python(const struct tkb_triton *triton);

/** One kernel to be compiled. Zero means the default. */
struct tkb_triton_unit {
	size_t struct_size;    /**< sizeof it, as the caller was built */
	const char *file;      /**< the Python file. Required */
	const char *kernel;    /**< its name there. Required */
	const char *signature; /**< Required */
	const char *target;    /**< "cuda:90". Required */
	uint32_t num_warps;    /**< default: Triton's */
	uint32_t num_stages;   /**< likewise */
	/** Further options of a launch, as a JSON object: {"num_ctas": 2}; may
	    be NULL. */
	const char *options;
};

/**
 * Begin. All of `unit` is copied.
 *
 * @return 0, TKB_MISS (no such file, which the message tells),
 *         TKB_ERR_INVALID, TKB_ERR_IO, TKB_ERR_TOO_LARGE,
 *         TKB_ERR_NOMEM, or what the log returned
 */
TKB_API TKB_NODISCARD int tkb_triton_submit(struct tkb_triton *triton,
                                            const struct tkb_triton_unit *unit,
                                            struct tkb_triton_compile **out,
                                            struct tkb_error *err);

/** What came of it. Borrowed until the compile is freed. */
struct tkb_triton_compiled {
	const char *key;     /**< of the entry: the name of its folder */
	const char *hash;    /**< the same in hexadecimal, as Triton says it */
	const char *folder;  /**< the entry's */
	const char *kernel;  /**< what the entry's files are called */
	bool is_hit;         /**< the entry was there: nothing was compiled */
	const char *version; /**< Triton's: "3.6.0" */
	const char *note;    /**< where no launch asks for this: why; or "" */
};

/**
 * Wait.
 *
 * @return 0; TKB_MISS (not yet); TKB_ERR_INVALID (the file, the kernel, the
 *         signature or an option), TKB_ERR_UNSUPPORTED (no Triton, or one that
 *         is too old), TKB_ERR_UNAVAILABLE (workers crashed or took too long),
 *         TKB_ERR_CANCELLED, TKB_ERR_IO, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_triton_wait(
	struct tkb_triton_compile *compile, uint32_t timeout_ms,
	const struct tkb_triton_compiled **out, struct tkb_error *err);

/** All that Triton and the file said. Borrowed until the compile is freed. */
TKB_API struct tkb_bytes tkb_triton_log(struct tkb_triton_compile *compile);

/** Cancel what is not done, and free. NULL is allowed. */
TKB_API void tkb_triton_free(struct tkb_triton_compile *compile);

/**
 * A list of kernels: a JSON array of objects
 *
 *     {"file": "kernels.py", "kernel": "add_kernel",
 *      "signature": "*fp32:16, *fp32:16, *fp32:16, i32, 1024",
 *      "num_warps": 4, "num_stages": 3, "options": {"num_ctas": 1},
 *      "targets": ["cuda:90", "cuda:100"], "python": "/opt/venv/bin/python3"}
 *
 * of which the first three must be there. A file is looked for from the list's
 * folder, as is a python with a slash. "signature" may be an array of several.
 */
struct tkb_triton_list;

/** One kernel, with one signature, of a list. Borrowed from it. */
struct tkb_triton_item {
	const struct tkb_triton_unit *unit; /**< its target is NULL */
	const char *python;                 /**< NULL: the caller's */
	const char *const *targets;
	size_t target_count; /**< 0: those of the caller */
};

/**
 * Read the list at `path`.
 *
 * @param out  receives a list that the caller frees
 * @return 0, TKB_MISS (no such file, which the message tells),
 *         TKB_ERR_INVALID (what is wrong, and where), TKB_ERR_TOO_LARGE, TKB_ERR_IO, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_triton_list_read(const char *path,
                                               struct tkb_triton_list **out,
                                               struct tkb_error *err);

/** How many items there are. */
TKB_API size_t tkb_triton_list_count(const struct tkb_triton_list *list);

/** Item `index`, which must be below the count. Borrowed. */
TKB_API const struct tkb_triton_item *tkb_triton_list_item(
	const struct tkb_triton_list *list, size_t index);

/** Never fails; NULL is allowed. */
TKB_API void tkb_triton_list_free(struct tkb_triton_list *list);

#ifdef __cplusplus
}
#endif

#endif
