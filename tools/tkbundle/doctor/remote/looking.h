/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LOOKING_H
#define TKBUNDLE_LOOKING_H

/* Shared by the parts of remote_look(). */

#include "config/remote_use.h"
#include "doctor/machine/state.h"
#include "doctor/remote/remote_facts.h"

struct remote_looking {
	struct doctor *doctor;
	struct remote_use use;
	char *name; /* owned; without secrets */
	struct remote_facts *out;
};

/*
 * Make a finding from a failure of the remote: the advice depends on its kind.
 */
void remote_look_failed(struct remote_looking *looking, int rc,
                        const struct tkb_error *err);

#endif
