/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_DEEPGEMM_H
#define TKB_TREE_DEEPGEMM_H

/*
 * DeepGEMM 2.4 to 2.6 names the folder of a kernel "kernel.<name>.<hash>". It
 * hashes the name, the compiler with its version, the flags, and the code,
 * which is the whole file kernel.cu. The flags contain the path of DeepGEMM's
 * headers and, for NVRTC, that of CUDA's. So the same kernel has another name
 * on another machine.
 *
 * The folder does not say which compiler and flags were used, but there are
 * only a few combinations. The one that gives the folder's name is the one that
 * was used. Only if there is one can the name on another machine be computed.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	/* The longest folder name that is examined, with its zero. */
	TKB_DEEPGEMM_NAME_SIZE = 256
};

/* Where the headers are. The paths may be sentinels. */
struct tkb_deepgemm_place {
	const char *package; /* DeepGEMM's package */
	const char *cuda;    /* or NULL: NVRTC's kernels keep their names */
};

/* Does `folder` have the form of such a name? */
bool tkb_deepgemm_is_name(const char *folder);

/*
 * Does `folder` have the name that DeepGEMM gives it if the headers are at
 * `place`? `code` is the folder's code. If so, `*way` becomes the number of the
 * combination of compiler and flags. The number in `*way` before the call is
 * tried first; with `is_quick`, it is the only one tried.
 */
bool tkb_deepgemm_reproduce(const char *folder, struct tkb_bytes code,
                            const struct tkb_deepgemm_place *place,
                            bool is_quick, size_t *way);

/*
 * Compute the folder's name at `place`, if it was compiled with combination
 * `way`; false if that is not possible.
 */
bool tkb_deepgemm_rename(const char *folder, struct tkb_bytes code,
                         const struct tkb_deepgemm_place *place, size_t way,
                         char out[TKB_DEEPGEMM_NAME_SIZE]);

#endif
