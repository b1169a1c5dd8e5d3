/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_FACTS_H
#define TKBUNDLE_REMOTE_FACTS_H

#include <tkbundle/fleet.h>

/* Facts about what a remote has for this machine. */
struct remote_facts {
	bool is_named;    /* the command line or the configuration names one */
	bool is_enough;   /* it can be read, and has entries of the ref */
	bool is_all_here; /* a pull would add none of them */
	uint64_t entry_count; /* entries of the ref */
	bool is_missing;      /* the ref does not exist */
	bool is_empty;        /* all blobs that it names are gone */
	bool is_untrusted;    /* the policy does not trust it, or the remote */
	char ref[TKB_REF_SIZE];
};

#endif
