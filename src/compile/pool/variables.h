/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_VARIABLES_H
#define TKB_COMPILE_POOL_VARIABLES_H

/* The environment variables of one job: set before it, restored after it. */

#include "base/base.h"
#include "base/buf.h"

/* Previous values. A zeroed struct is empty. */
struct tkb_variables {
	struct tkb_variable *items; /* owned */
	size_t capacity;
	size_t count;
};

/*
 * Apply NUL-terminated texts: "NAME=value" sets, "NAME" unsets. After a failure
 * the changes so far still have to be restored.
 */
TKB_NODISCARD int tkb_variables_set(struct tkb_variables *variables,
                                    struct tkb_bytes texts,
                                    struct tkb_error *err);

/* Restore the values. After a failure, this process can run no other job. */
TKB_NODISCARD int tkb_variables_put_back(struct tkb_variables *variables,
                                         struct tkb_error *err);

#endif
