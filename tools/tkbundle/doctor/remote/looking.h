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

/* Make a finding of a failure of the remote's: what to do depends on its kind. */
void remote_look_failed(struct remote_looking *looking, int rc,
                        const struct tkb_error *err);

/* Which ref is used, and what has it for this machine (remote_ref.c)? */
void remote_look_ref(struct remote_looking *looking);

/*
 * Of a policy (remote_trust.c): ask who has signed what of the ref is trusted, print
 * that, and look for what lies in the cache and is revoked since.
 */
int remote_trust_ask(struct remote_looking *looking, struct tkb_error *err);
void remote_trust_print(struct remote_looking *looking);
void remote_trust_look_revoked(struct remote_looking *looking);

#endif
