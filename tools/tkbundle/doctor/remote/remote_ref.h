/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_REF_H
#define TKBUNDLE_REMOTE_REF_H

#include "doctor/remote/looking.h"

/* Find out which ref is used, and what it has for this machine. */
void remote_look_ref(struct remote_looking *looking);

#endif
