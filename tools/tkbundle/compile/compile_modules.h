/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_MODULES_H
#define TKBUNDLE_COMPILE_MODULES_H

#include <tkbundle/error.h>

#include "cli/auto.h"

/*
 * The modules in a cache folder of Inductor's that define Triton kernels:
 * FOLDER/xx/NAME.py, in order.
 */
struct compile_modules {
	char **paths; /* owned, and each of them */
	size_t count;
};

/*
 * List the modules; `out` must be zeroed. @return 0, TKB_MISS (there are none),
 * TKB_ERR_IO or _NOMEM
 */
TKB_NODISCARD int compile_modules_list(const char *folder,
                                       struct compile_modules *out,
                                       struct tkb_error *err);

/* For TKB_AUTO. */
void compile_modules_release(struct compile_modules *modules);

#endif
