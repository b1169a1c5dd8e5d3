/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_C_LAUNCHER_H
#define TKBUNDLE_C_LAUNCHER_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/c_launcher.h
 * Use a compiled kernel from C or C++ without Python: generates a source file
 * and a header that contain its cubin and launch it, with the CUDA driver as
 * the only dependency.
 *
 *     rc = tkb_c_launcher_new(&kernel, &options, &launcher, &err);
 *     rc = tkb_c_launcher_write_source(launcher, &c_file, &err);
 *     rc = tkb_c_launcher_write_header(launcher, &h_file, &err);
 *     tkb_c_launcher_free(launcher);
 *
 * A struct tkb_c_link reads the headers of several launchers of a kernel, for
 * different kinds of arguments, and puts them behind one function.
 *
 * Names
 * -----
 * As Triton's own tools/compile.py forms them: `<name>_<hash>_<suffix>`. The
 * hash is the first 8 hexadecimal digits of the SHA-256 of the signature's
 * items and `warps<W>xstages<S>`, separated by spaces. The suffix has the
 * position of each argument that is not a constant, among those, followed by
 * `c` for `:1` and `d` for `:16`, as in Triton up to 3.2. Later versions count
 * constants too; if these come last, that only makes a difference for digits at
 * the end.
 *
 * Signatures
 * ----------
 * Triton's: an item per parameter of the function, separated by commas.
 *
 *     *fp32  *i8  ...       a pointer
 *     i1 i8 i16 i32 i64     integers, also u1 u8 u16 u32 u64
 *     fp16 bf16 fp32 fp64   numbers, each a `double` in C
 *     *fp32:16  i32:16      a multiple of 16
 *     i32:1                 always 1: not an argument of the kernel
 *     1024  0.5             a constant: not an argument; also True, False,
 *                           None, "text" and names such as tl.float16
 *
 * A signature is checked against the cubin's table of parameters, the PTX and
 * Triton's IR, as far as the entry has them.
 *
 * Generated code
 * --------------
 * C99 and C++11, for compilers with GCC's __atomic functions, and CUDA 12.0 or
 * later. Every function returns a CUresult; none exits or prints. The first
 * launch, in whichever thread, loads the cubin once for all contexts and
 * devices. The same input gives the same bytes.
 *
 * Trust: no part of the kernel, the signature or the grid can end a comment, a
 * string or a function of the generated code.
 *
 * Threads: no state is kept between calls; a handle belongs to one thread.
 */
struct tkb_c_launcher;

/** A kernel: the files of an entry. Not kept after tkb_c_launcher_new(). */
struct tkb_c_kernel {
	size_t struct_size;        /**< sizeof it, as the caller was built */
	const char *key;           /**< of the entry, for a comment; or NULL */
	struct tkb_bytes metadata; /**< `<name>.json` */
	struct tkb_bytes cubin;    /**< copied */
	struct tkb_bytes ptx;      /**< empty if the entry has none */
	/** Triton's IR with the argument names; empty: they are arg0, ... */
	struct tkb_bytes ttir;
};

/** What an entry says about its kernel's launch. 0: unknown. */
struct tkb_c_facts {
	size_t struct_size; /**< sizeof it, as the caller was built */
	uint32_t num_warps;
	uint32_t num_stages;
	uint32_t num_ctas;
	uint32_t shared; /**< bytes */
};

/**
 * Read these facts, for a kernel of any backend.
 *
 * @param kernel     only its metadata and Triton's IR are used
 * @param signature  receives the items that are parameters of the function,
 *                   joined by ", ", according to Triton's IR, which shows
 *                   neither constants, nor `:1`, nor the sign of integers.
 *                   Receives nothing if the entry has no such IR. May be NULL
 * @return 0, TKB_ERR_CORRUPT (bad metadata), TKB_ERR_NOMEM, or the sink's own
 *         error
 */
TKB_API TKB_NODISCARD int tkb_c_facts_read(const struct tkb_c_kernel *kernel,
                                           struct tkb_c_facts *out,
                                           const struct tkb_sink *signature,
                                           struct tkb_error *err);

/** Options for tkb_c_launcher_new(). Not kept. */
struct tkb_c_launcher_options {
	size_t struct_size;    /**< sizeof it, as the caller was built */
	const char *signature; /**< required */
	uint32_t num_warps;    /**< 0: as in the metadata */
	uint32_t num_stages;   /**< 0: as in the metadata */
	/**
	 * Three expressions, separated by commas: names of integer arguments,
	 * integers, + - * / % and parentheses. NULL: the launcher takes gX, gY
	 * and gZ.
	 */
	const char *grid;
	const char *name; /**< instead of the kernel's name; or NULL */
	/**
	 * file name, without folder and ".<hash>_<suffix>.h"; NULL: the name
	 */
	const char *file_name;
};

/**
 * Check a signature against a kernel, and make a launcher.
 *
 * @param out  receives a launcher that the caller frees
 * @return 0, TKB_ERR_INVALID (the signature, the grid or a name is malformed or
 *         does not fit this kernel), TKB_ERR_UNSUPPORTED (a kernel that C
 *         cannot launch: another backend, tensor descriptors), TKB_ERR_CORRUPT
 *         (a damaged file of the entry), TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_c_launcher_new(
	const struct tkb_c_kernel *kernel,
	const struct tkb_c_launcher_options *options,
	struct tkb_c_launcher **out, struct tkb_error *err);

/** Release the launcher. Never fails; NULL is allowed. */
TKB_API void tkb_c_launcher_free(struct tkb_c_launcher *launcher);

/** "<hash>_<suffix>", part of the files' names. Borrowed. */
TKB_API const char *tkb_c_launcher_suffix(
	const struct tkb_c_launcher *launcher);

/** "<name>_<hash>_<suffix>", the function that launches. Borrowed. */
TKB_API const char *tkb_c_launcher_function(
	const struct tkb_c_launcher *launcher);

/**
 * Write the source file to `sink`.
 *
 * @return 0, TKB_ERR_NOMEM, or the sink's own error
 */
TKB_API TKB_NODISCARD int tkb_c_launcher_write_source(
	const struct tkb_c_launcher *launcher, const struct tkb_sink *sink,
	struct tkb_error *err);

/** Write the header to `sink`. Fails like tkb_c_launcher_write_source(). */
TKB_API TKB_NODISCARD int tkb_c_launcher_write_header(
	const struct tkb_c_launcher *launcher, const struct tkb_sink *sink,
	struct tkb_error *err);

/**
 * Several launchers behind one function. For each kernel `k` of the headers:
 *
 *     CUresult k(CUstream, arguments..., int algo_id);
 *     CUresult k_default(CUstream, arguments...);
 *     int k_get_num_algos(void);
 *     CUresult load_k(void);
 *     CUresult unload_k(void);
 *
 * An algo is a choice of warps, stages and constants; each also has a function
 * `k_<constants>_warps<W>xstages<S>`. It calls the launcher with the most hints
 * that the arguments satisfy, and returns CUDA_ERROR_INVALID_VALUE if there is
 * none.
 */
struct tkb_c_link;

/** The header of a launcher. */
struct tkb_c_header {
	const char *name;      /**< for messages; not kept */
	struct tkb_bytes text; /**< not kept */
};

/**
 * Read headers that tkb_c_launcher_write_header() wrote.
 *
 * @param file_name  name of the files to write, without folder and ".h"; not
 *                   kept
 * @param out        receives a handle that the caller frees
 * @return 0, TKB_ERR_INVALID (not such a header, launchers that do not fit
 *         together, a bad name), TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_c_link_new(const struct tkb_c_header *headers,
                                         size_t count, const char *file_name,
                                         struct tkb_c_link **out,
                                         struct tkb_error *err);

/** Release the handle. Never fails; NULL is allowed. */
TKB_API void tkb_c_link_free(struct tkb_c_link *link);

/** The number of kernels. */
TKB_API size_t tkb_c_link_kernel_count(const struct tkb_c_link *link);

/** The name of kernel `index`, which is below the count. Borrowed. */
TKB_API const char *tkb_c_link_kernel(const struct tkb_c_link *link,
                                      size_t index);

/** The number of algos of kernel `index`. */
TKB_API size_t tkb_c_link_algo_count(const struct tkb_c_link *link,
                                     size_t index);

/** Fails like tkb_c_launcher_write_source(). */
TKB_API TKB_NODISCARD int tkb_c_link_write_source(const struct tkb_c_link *link,
                                                  const struct tkb_sink *sink,
                                                  struct tkb_error *err);

/** Fails like tkb_c_launcher_write_source(). */
TKB_API TKB_NODISCARD int tkb_c_link_write_header(const struct tkb_c_link *link,
                                                  const struct tkb_sink *sink,
                                                  struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
