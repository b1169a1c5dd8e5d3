/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_POLICY_H
#define TKBUNDLE_POLICY_H

#include <tkbundle/trust.h>

#include "cli/cli.h"
#include "cli/remote_library.h"
#include "trust/revoked_lists.h"
#include "trust/signed.h"

/*
 * A policy says whose signatures count. It is a file of `name = value` lines,
 *
 *     unsigned = refuse
 *     ci.key = ci.pem.pub
 *     ci.publish = model-?? draft-??
 *     release.key = release.pem.pub
 *     release.promote = prod-??
 *     release.not-after = 2027-12-31T00:00:00Z
 *     security.key = security.pem.pub
 *     security.revoke = yes
 *     promote-threshold = 1
 *     replay = refuse
 *     inbox = inbox
 *
 * that root or the user owns and nobody else may write; the same holds for the
 * files of keys, whose names are relative to its folder. It is the file that
 * the configuration names, else $XDG_CONFIG_HOME/tkbundle/trust, else
 * /etc/tkbundle.trust. If none exists, nothing needs to be signed.
 */
struct policy_key;

/* A zeroed struct is no policy. */
struct policy {
	struct cli *cli;
	char *path;   /* owned; NULL: there is no policy */
	char *memory; /* owned; the file with the sequence numbers that were
	                 seen */
	char *inbox;  /* owned; the first part of the names of refs that anybody
	                 may push to */
	struct tkb_trust trust;
	struct policy_key *keys;          /* owned */
	struct tkb_trust_key *trust_keys; /* owned; lines about the same keys */
	size_t key_count;
	size_t refused_count; /* records that were reported as untrusted */
	bool is_quiet;        /* count these, but do not print them */
	bool says_all; /* print the first one, too, which the error usually
	                  names */
	struct signed_list trusted; /* trusted records, and who signed them */
	struct revoked_lists lists; /* of what is revoked */
};

/*
 * Find the policy's file: `named`, or, if that is NULL, the user's or the
 * machine's. `*out`, which the caller frees, is NULL if there is none.
 */
TKB_NODISCARD int policy_find(const char *named, char **out,
                              struct tkb_error *err);

void policy_release(struct policy *policy,
                    const struct remote_library *library);

/*
 * Load the policy.
 *
 * @param named  the file that the configuration names, or NULL
 * @return 0, also if there is none; TKB_MISS (there is no such file, or no file
 *         of a key); TKB_ERR_INVALID (a sentence with file and
 *         line), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int policy_load(struct policy *policy, struct cli *cli,
                              const struct remote_library *library,
                              const char *named, struct tkb_error *err);

/* The policy for struct tkb_remote_options; NULL: there is none. */
const struct tkb_trust *policy_trust(const struct policy *policy);

#endif
