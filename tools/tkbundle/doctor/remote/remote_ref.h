/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_REF_H
#define TKBUNDLE_REMOTE_REF_H

#include "doctor/remote/looking.h"

/* Which ref is used, and what has it for this machine? */
void remote_look_ref(struct remote_looking *looking);

#endif
