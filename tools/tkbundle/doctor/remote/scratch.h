/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SCRATCH_H
#define TKBUNDLE_SCRATCH_H

#include "config/remote_use.h"

/*
 * Can the remote be written to? Tried by putting and removing a blob of a few random
 * bytes, and a record of a ref that nobody else uses.
 */
struct scratch {
	bool can_write;
	bool can_remove;
	/* of the record, as the remote tells it right after it was added */
	uint64_t age_s;
	struct tkb_error err; /* what failed first */
};

void scratch_try(struct remote_use *use, struct scratch *out);

#endif
