/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_C_LAUNCHER_H
#define TKBUNDLE_C_LAUNCHER_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/c_launcher.h
 * Use a compiled kernel from C or C++, without Python: a source file and a
 * header that hold its cubin, and start it with nothing but the CUDA driver.
 *
 *     rc = tkb_c_launcher_new(&kernel, &options, &launcher, &err);
 *     rc = tkb_c_launcher_write_source(launcher, &c_file, &err);
 *     rc = tkb_c_launcher_write_header(launcher, &h_file, &err);
 *     tkb_c_launcher_free(launcher);
 *
 * Several launchers of one kernel, for arguments of several kinds, are put
 * under one function by a struct tkb_c_link, which reads their headers.
 *
 * Names
 * -----
 * As Triton's own tools/compile.py gives them: `<name>_<hash>_<suffix>`. The
 * hash is the first 8 hexadecimal digits of the SHA-256 of the signature's
 * items and `warps<W>xstages<S>`, a space between. The suffix has, for each
 * argument that is no constant, its position among those, then `c` for `:1`
 * and `d` for `:16`: that is Triton's up to 3.2. Later ones count the constants
 * too, which changes nothing where these come last, but for digits at the end.
 *
 * Signatures
 * ----------
 * Triton's: an item for each parameter of the function, separated by commas.
 *
 *     *fp32  *i8  ...       a pointer
 *     i1 i8 i16 i32 i64     integers, also u1 u8 u16 u32 u64
 *     fp16 bf16 fp32 fp64   numbers, each a `double` in C
 *     *fp32:16  i32:16      a multiple of 16
 *     i32:1                 always 1: no argument of the kernel
 *     1024  0.5             a constant: no argument either; also True, False,
 *                           None, "text" and names as tl.float16
 *
 * A signature is held against the cubin's own table of parameters, against the
 * PTX and against Triton's IR, as far as an entry has these.
 *
 * What is written
 * ---------------
 * C99 and C++11, for compilers with GCC's __atomic functions, and CUDA 12.0 or
 * later. Every function returns a CUresult; none exits or prints. The cubin is
 * loaded at the first launch, by whichever thread comes first, once for all
 * contexts and devices. The same input gives the same bytes.
 *
 * Trust: nothing of the kernel, the signature or the grid can end a comment,
 * a string or a function in what is written.
 * Threads: no state is kept between calls; a handle belongs to one thread.
 */
struct tkb_c_launcher;

/** The kernel: files of an entry. None is kept after tkb_c_launcher_new(). */
struct tkb_c_kernel {
	size_t struct_size;        /**< sizeof it, as the caller was built */
	const char *key;           /**< of the entry, for a comment; or NULL */
	struct tkb_bytes metadata; /**< `<name>.json` */
	struct tkb_bytes cubin;    /**< copied */
	struct tkb_bytes ptx;      /**< empty where the entry has none */
	struct tkb_bytes ttir;     /**< Triton's IR, which has the names of
	                                arguments; empty: they are arg0, arg1 */
};

/** What an entry tells of how its kernel is launched. 0: not told. */
struct tkb_c_facts {
	size_t struct_size; /**< sizeof it, as the caller was built */
	uint32_t num_warps;
	uint32_t num_stages;
	uint32_t num_ctas;
	uint32_t shared; /**< bytes */
};

/**
 * Read it, of a kernel for any backend.
 *
 * @param kernel     only its metadata and Triton's IR are looked at
 * @param signature  gets the items that are parameters of the function, ", "
 *                   between, as Triton's IR has them: constants and `:1` left no
 *                   trace there, and a sign neither. Nothing where the entry
 *                   does not tell. May be NULL
 * @return 0, TKB_ERR_CORRUPT (the metadata is none), TKB_ERR_NOMEM, or what the
 *         sink returned
 */
TKB_API TKB_NODISCARD int tkb_c_facts_read(const struct tkb_c_kernel *kernel,
                                           struct tkb_c_facts *out,
                                           const struct tkb_sink *signature,
                                           struct tkb_error *err);

/** Choices. None is kept after tkb_c_launcher_new(). */
struct tkb_c_launcher_options {
	size_t struct_size;    /**< sizeof it, as the caller was built */
	const char *signature; /**< required */
	uint32_t num_warps;    /**< 0: the metadata's */
	uint32_t num_stages;   /**< 0: the metadata's */
	/**
	 * Three expressions, separated by commas: the names of integer
	 * arguments, integers, + - * / % and parentheses. NULL: the launcher
	 * takes gX, gY and gZ.
	 */
	const char *grid;
	const char *name;      /**< instead of the kernel's; or NULL */
	const char *file_name; /**< what the files are called, without folder
	                            and ".<hash>_<suffix>.h"; NULL: the name */
};

/**
 * Hold a signature against a kernel.
 *
 * @param out  receives a launcher that the caller frees
 * @return 0, TKB_ERR_INVALID (the signature, the grid or a name makes no sense,
 *         or is not this kernel's), TKB_ERR_UNSUPPORTED (a kernel that C cannot
 *         start: another backend, tensor descriptors), TKB_ERR_CORRUPT (a file
 *         of the entry is damaged), TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_c_launcher_new(
	const struct tkb_c_kernel *kernel,
	const struct tkb_c_launcher_options *options,
	struct tkb_c_launcher **out, struct tkb_error *err);

/** Release it. Never fails; NULL is allowed. */
TKB_API void tkb_c_launcher_free(struct tkb_c_launcher *launcher);

/** "<hash>_<suffix>", which is a part of the files' names. Borrowed. */
TKB_API const char *tkb_c_launcher_suffix(
	const struct tkb_c_launcher *launcher);

/** "<name>_<hash>_<suffix>", the function that launches. Borrowed. */
TKB_API const char *tkb_c_launcher_function(
	const struct tkb_c_launcher *launcher);

/**
 * Send the source file to `sink`.
 *
 * @return 0, TKB_ERR_NOMEM, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_c_launcher_write_source(
	const struct tkb_c_launcher *launcher, const struct tkb_sink *sink,
	struct tkb_error *err);

/** Send the header to `sink`. Codes as of tkb_c_launcher_write_source(). */
TKB_API TKB_NODISCARD int tkb_c_launcher_write_header(
	const struct tkb_c_launcher *launcher, const struct tkb_sink *sink,
	struct tkb_error *err);

/**
 * Launchers under one function. For each kernel `k` of the headers:
 *
 *     CUresult k(CUstream, arguments..., int algo_id);
 *     CUresult k_default(CUstream, arguments...);
 *     int k_get_num_algos(void);
 *     CUresult load_k(void);
 *     CUresult unload_k(void);
 *
 * An algo is what warps, stages and constants make; for each there is also
 * `k_<constants>_warps<W>xstages<S>`. It takes the launcher with the most
 * demands that the arguments meet, and is CUDA_ERROR_INVALID_VALUE if there is
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
 * @param file_name  what the files will be called, without folder and ".h";
 *                   not kept
 * @param out        receives a handle that the caller frees
 * @return 0, TKB_ERR_INVALID (no such header, launchers that cannot stand under
 *         one function, a name), TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_c_link_new(const struct tkb_c_header *headers,
                                         size_t count, const char *file_name,
                                         struct tkb_c_link **out,
                                         struct tkb_error *err);

/** Release it. Never fails; NULL is allowed. */
TKB_API void tkb_c_link_free(struct tkb_c_link *link);

/** How many kernels there are. */
TKB_API size_t tkb_c_link_kernel_count(const struct tkb_c_link *link);

/** The name of kernel `index`, which must be below the count. Borrowed. */
TKB_API const char *tkb_c_link_kernel(const struct tkb_c_link *link,
                                      size_t index);

/** How many algos kernel `index` has. */
TKB_API size_t tkb_c_link_algo_count(const struct tkb_c_link *link,
                                     size_t index);

/** Codes as of tkb_c_launcher_write_source(). */
TKB_API TKB_NODISCARD int tkb_c_link_write_source(const struct tkb_c_link *link,
                                                  const struct tkb_sink *sink,
                                                  struct tkb_error *err);

/** Codes as of tkb_c_launcher_write_source(). */
TKB_API TKB_NODISCARD int tkb_c_link_write_header(const struct tkb_c_link *link,
                                                  const struct tkb_sink *sink,
                                                  struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
