/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_TRUST_H
#define TKBUNDLE_REMOTE_TRUST_H

#include "doctor/remote/looking.h"

/*
 * Of a policy: ask who has signed what of the ref is trusted, print that, and look for
 * what lies in the cache and is revoked since.
 */
int remote_trust_ask(struct remote_looking *looking, struct tkb_error *err);
void remote_trust_print(struct remote_looking *looking);
void remote_trust_look_revoked(struct remote_looking *looking);

#endif
