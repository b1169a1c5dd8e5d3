/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_MODULES_H
#define TKBUNDLE_COMPILE_MODULES_H

#include <tkbundle/error.h>

#include "cli/auto.h"

/*
 * The modules of a cache folder of Inductor's that define kernels of Triton's:
 * FOLDER/xx/NAME.py, in order.
 */
struct compile_modules {
	char **paths; /* owned, each */
	size_t count;
};

/* Into a zeroed struct. Codes: 0, TKB_MISS (there are none), TKB_ERR_IO, _NOMEM. */
TKB_NODISCARD int compile_modules_list(const char *folder,
                                       struct compile_modules *out,
                                       struct tkb_error *err);

/* For TKB_AUTO. */
void compile_modules_release(struct compile_modules *modules);

#endif
