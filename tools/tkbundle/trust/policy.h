/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_POLICY_H
#define TKBUNDLE_POLICY_H

#include <tkbundle/trust.h>

#include "cli/cli.h"
#include "cli/remote_library.h"
#include "trust/signed.h"

/*
 * Whose signatures count: a file of `name = value` lines,
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
 * which root or the user owns and nobody else may write, and so the files of keys,
 * whose names begin at its folder. It is the one that the configuration names, else
 * $XDG_CONFIG_HOME/tkbundle/trust, else /etc/tkbundle.trust; if there is none,
 * nothing is asked.
 */
struct policy_key;

/* Zeroed, there is none. */
struct policy {
	struct cli *cli;
	char *path;   /* owned; NULL: there is no policy */
	char *memory; /* owned; what was seen under it */
	char *inbox;  /* owned; the name above refs that anybody may push to */
	struct tkb_trust trust;
	struct policy_key *keys;          /* owned */
	struct tkb_trust_key *trust_keys; /* owned; of the same keys */
	size_t key_count;
	size_t refused_count; /* records that were told of, and not used */
	bool is_quiet;        /* those are counted, and not said */
	bool says_all; /* the first, too, which a failure names otherwise */
	struct signed_list trusted; /* what was, and who has signed it */
};

/*
 * Where the policy is: `named`, or, where that is NULL, the user's or the machine's.
 * `*out`, which the caller frees, is NULL where there is none.
 */
TKB_NODISCARD int policy_find(const char *named, char **out,
                              struct tkb_error *err);

void policy_release(struct policy *policy,
                    const struct remote_library *library);

/*
 * Load it.
 *
 * @param named  as the configuration names it, or NULL
 * @return 0, also if there is none; TKB_ERR_INVALID (a sentence with file and
 *         line), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int policy_load(struct policy *policy, struct cli *cli,
                              const struct remote_library *library,
                              const char *named, struct tkb_error *err);

/* For struct tkb_remote_options; NULL: there is none. */
const struct tkb_trust *policy_trust(const struct policy *policy);

#endif
