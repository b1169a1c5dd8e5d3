/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_SIGNING_H
#define TKB_TESTS_SIGNING_H

/* Keys and policies, and remotes under them. */

#include <tkbundle/signatures.h>

#include "fleet_fixture.h"

#define SIGNED "@signed/" REF

/* It is closed with the test. */
struct tkb_key *make_key(void);

/* How one key signs, and for which stage; it lives as long as the test. */
struct tkb_signing *signing_with(const struct tkb_key *key);
struct tkb_sign_options sign_with(const struct tkb_key *key,
                                  enum tkb_trust_stage stage);

struct tkb_push_report push_signed(struct tkb_remote *remote, const char *root,
                                   const struct tkb_key *key);

/* Pull the ref, or REF, into the test's folder `name`; what it reports is in `pulled`. */
int pull_ref(struct tkb_remote *remote, const char *ref, const char *name);
int pull_from(struct tkb_remote *remote, const char *name);
extern struct tkb_pull_report pulled;

/* A policy of one key, which may publish anything, and what it was told of. */
struct rule {
	struct tkb_trust_key key;
	struct tkb_trust trust;
	unsigned refused;
	unsigned warned;
};

/* A policy of "ci", which may publish all, and of a second key. */
struct fleet {
	struct tkb_key *ci;
	struct tkb_key *second;
	struct tkb_trust_key keys[2];
	struct tkb_trust trust;
	struct tkb_remote *remote; /* under no policy */
	struct tkb_remote *strict;
};

/* `second` says what that key may do. `memory` is the policy's; it may be NULL. */
struct fleet *arrange_fleet(struct tkb_trust_key second, const char *memory);

/* The same fleet, to which "ci" has pushed all of the pool. */
struct fleet *with_pool(struct fleet *fleet);

/* The folder `name` as a remote under the rule, which is filled in. */
struct tkb_remote *open_under(const char *name, struct rule *rule,
                              const struct tkb_key *key,
                              enum tkb_unsigned mode);

/* The only record under a name. */
struct tkb_bytes only_text(struct tkb_remote *remote, const char *name);

unsigned count_under(struct tkb_remote *remote, const char *name);

#endif
