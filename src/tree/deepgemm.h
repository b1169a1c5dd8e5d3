/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_DEEPGEMM_H
#define TKB_TREE_DEEPGEMM_H

/*
 * What DeepGEMM 2.4 to 2.6 calls the folder of a kernel: "kernel.<name>.<hash>".
 * The hash is of the name, the compiler and its version, the flags, and the code,
 * which is all of the file kernel.cu. Among the flags is where DeepGEMM's headers
 * lie, and for NVRTC those of CUDA: so on another machine the same kernel has
 * another name.
 *
 * Compiler and flags stand nowhere in the folder, but there are few that they can
 * be. The one that gives the folder's own name is the one that was used: then,
 * and only then, its name elsewhere can be told.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	/* The longest name of a folder that is looked at, with its zero. */
	TKB_DEEPGEMM_NAME_SIZE = 256
};

/* Where the headers are. Paths may be sentinels. */
struct tkb_deepgemm_place {
	const char *package; /* DeepGEMM's */
	const char *cuda;    /* or NULL: what NVRTC compiled keeps its name */
};

/* Has `folder` the shape of such a name? */
bool tkb_deepgemm_is_name(const char *folder);

/*
 * Was `folder`, of which this is the code, named where the headers are at `place`?
 * `*way` is then the number of compiler and flags that tell so; the one that it had
 * before is tried first. With `is_quick` no other one is.
 */
bool tkb_deepgemm_reproduce(const char *folder, struct tkb_bytes code,
                            const struct tkb_deepgemm_place *place,
                            bool is_quick, size_t *way);

/*
 * What it is called at `place`, where it was compiled by `way`; false: that is not
 * known.
 */
bool tkb_deepgemm_rename(const char *folder, struct tkb_bytes code,
                         const struct tkb_deepgemm_place *place, size_t way,
                         char out[TKB_DEEPGEMM_NAME_SIZE]);

#endif
