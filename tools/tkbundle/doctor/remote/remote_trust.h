/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_TRUST_H
#define TKBUNDLE_REMOTE_TRUST_H

#include "doctor/remote/looking.h"

/*
 * With a policy: find out who signed the trusted records of the ref, print
 * that, and look for entries in the cache that were revoked later.
 */
int remote_trust_ask(struct remote_looking *looking, struct tkb_error *err);
void remote_trust_print(struct remote_looking *looking);
void remote_trust_look_revoked(struct remote_looking *looking);

#endif
