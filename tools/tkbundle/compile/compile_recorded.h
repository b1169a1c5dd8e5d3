/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_RECORDED_H
#define TKBUNDLE_COMPILE_RECORDED_H

#include <tkbundle/triton_compile.h>

#include "cli/auto.h"

/*
 * The records of compiled kernels: in a bundle, in a cache root of Triton's, or
 * in a folder of specialisations, which `pull --tree specialisations=FOLDER`
 * fills.
 */

/* All owned. */
struct compile_recorded_kernel {
	char *key;  /* of its entry */
	char *name; /* "add_kernel" */
	struct tkb_bytes metadata;
	struct tkb_triton_recorded recorded; /* a specialisation of the kernel
	                                        with the key above */
};

struct compile_recorded {
	struct compile_recorded_kernel *kernels; /* owned */
	size_t count;
};

/* Is it FILE.tkb, or a folder of entries or of specialisations? */
bool compile_recorded_is_there(const char *path);

/*
 * Read the records; `out` must be zeroed. @return 0, TKB_MISS (there are none),
 * or a result of source_open()
 */
TKB_NODISCARD int compile_recorded_read(const char *path,
                                        struct compile_recorded *out,
                                        struct tkb_error *err);

/* For TKB_AUTO. */
void compile_recorded_release(struct compile_recorded *recorded);

#endif
