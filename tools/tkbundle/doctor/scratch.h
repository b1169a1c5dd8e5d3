/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SCRATCH_H
#define TKBUNDLE_SCRATCH_H

#include "config/remote_use.h"

/*
 * May the remote be written? A blob of a few random bytes is put and removed, and a
 * record of a ref that nobody else has.
 */
struct scratch {
	bool can_write;
	bool can_remove;
	uint64_t age_s; /* of the record, told when it has just been added */
	struct tkb_error err; /* what failed first */
};

void scratch_try(struct remote_use *use, struct scratch *out);

#endif
