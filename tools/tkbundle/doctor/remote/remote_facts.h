/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_FACTS_H
#define TKBUNDLE_REMOTE_FACTS_H

#include <tkbundle/fleet.h>

/* What a remote has for this machine. */
struct remote_facts {
	bool is_named; /* there is one, by the command line or the configuration */
	bool is_enough;       /* it can be read, and has entries of the ref */
	bool is_all_here;     /* a pull would add none of them */
	uint64_t entry_count; /* of the ref */
	bool is_missing;      /* the ref is */
	bool is_empty;        /* all that it names is gone */
	char ref[TKB_REF_SIZE];
};

#endif
