/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_LOOK_H
#define TKBUNDLE_REMOTE_LOOK_H

#include <tkbundle/fleet.h>

#include "doctor/state.h"

/* What a remote has for this machine. */
struct remote_facts {
	bool is_named; /* there is one, by the command line or the configuration */
	bool is_enough;       /* it can be read, and has entries of the ref */
	uint64_t entry_count; /* of the ref */
	bool is_missing;      /* the ref is */
	bool is_empty;        /* all that it names is gone */
	char ref[TKB_REF_SIZE];
};

/*
 * Check whether the remote can be reached, read and written, whether it has the
 * ref, and what of the ref is missing here; for at most the time that `run` waits
 * for a pull. To try writing, put a scratch blob and a scratch record, and remove
 * them at once.
 */
enum status remote_look(struct doctor *doctor, struct remote_facts *out);

#endif
