/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_BIND_H
#define TKBUNDLE_COMPILE_BIND_H

#include <tkbundle/finalize.h>

#include "cli/cli.h"
#include "cli/command.h"

/* The kernel's arguments in --bind and --bind-from. */
struct compile_bindings {
	struct tkb_binding *items; /* owned, with their texts and bytes */
	size_t count;
};

/*
 * Read the arguments, and the files that they name.
 *
 * @return 0, TKB_MISS (there is no such file), TKB_ERR_INVALID (an argument
 *         makes no sense), TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_NODISCARD int compile_bindings_read(const struct compile_arguments *args,
                                        struct compile_bindings *out,
                                        struct tkb_error *err);

/* For TKB_AUTO. */
void compile_bindings_release(struct compile_bindings *bindings);

#endif
