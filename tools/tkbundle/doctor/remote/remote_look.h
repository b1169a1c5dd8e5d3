/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_LOOK_H
#define TKBUNDLE_REMOTE_LOOK_H

#include "doctor/machine/state.h"
#include "doctor/remote/remote_facts.h"

/*
 * Check whether the remote can be reached, read and written, whether it has the
 * ref, and which of its entries are missing here; for at most the time that
 * `run` waits for a pull. To try writing, put a scratch blob and a scratch
 * record, and remove them at once.
 */
enum status remote_look(struct doctor *doctor, struct remote_facts *out);

#endif
