/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_VARIABLES_H
#define TKB_COMPILE_POOL_VARIABLES_H

/* The environment of one job: set for it, and put back behind it. */

#include "base/base.h"
#include "base/buf.h"

/* What was there before. Zeroed, it is nothing. */
struct tkb_variables {
	struct tkb_variable *items; /* owned */
	size_t capacity;
	size_t count;
};

/*
 * Do what `texts` say, each of which ends with a NUL: "NAME=value" sets, "NAME"
 * unsets. After a failure too there is something to be put back.
 */
TKB_NODISCARD int tkb_variables_set(struct tkb_variables *variables,
                                    struct tkb_bytes texts,
                                    struct tkb_error *err);

/* Where that fails, this is no process for another job. */
TKB_NODISCARD int tkb_variables_put_back(struct tkb_variables *variables,
                                         struct tkb_error *err);

#endif
