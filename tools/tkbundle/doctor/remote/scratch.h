/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SCRATCH_H
#define TKBUNDLE_SCRATCH_H

#include "config/remote_use.h"

/*
 * Find out whether the remote can be written: put and remove a blob of a few
 * random bytes, and a record of a ref that only such calls use.
 */
struct scratch {
	bool can_write;
	bool can_remove;
	/*
	 * age of the record, as the remote gives it right after the record was
	 * added
	 */
	uint64_t age_s;
	struct tkb_error err; /* the first failure */
};

void scratch_try(struct remote_use *use, struct scratch *out);

#endif
