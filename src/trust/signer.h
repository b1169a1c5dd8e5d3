/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_SIGNER_H
#define TKB_TRUST_SIGNER_H

/* The keys that sign the records of one push. */

#include "trust/envelopes.h"

struct tkb_signer {
	struct tkb_signing signing; /* a copy */
	uint64_t now_s;
	uint64_t expires_s;
	uint64_t sequence;              /* of everything that it signs */
	struct tkb_envelopes envelopes; /* of the ref, as read at the
	                                   beginning */
};

void tkb_signer_release(struct tkb_signer *signer);

/* Copy and check how to sign, and set the default lifetime. */
TKB_NODISCARD int tkb_signing_read(struct tkb_signing *own,
                                   const struct tkb_signing *given,
                                   struct tkb_error *err);

/* Is `id` the id of one of its keys? */
bool tkb_signing_has_key(const struct tkb_signing *signing,
                         const struct tkb_digest *id);

/*
 * Check what a caller gave, and read the ref's envelopes. The sequence will be
 * larger than any that these keys have signed for the ref, and at least the
 * current time in seconds.
 */
TKB_NODISCARD int tkb_signer_begin(struct tkb_signer *signer,
                                   const struct tkb_signing *given,
                                   struct tkb_remote *remote, const char *ref,
                                   struct tkb_error *err);

/*
 * Does this record have a valid signature by each key of the signer, for the
 * ref and its stage?
 */
TKB_NODISCARD int tkb_signer_knows(const struct tkb_signer *signer,
                                   const char *ref,
                                   const struct tkb_subject *subject, bool *out,
                                   struct tkb_error *err);

/*
 * Have only these keys signed the record for the ref? Expired signatures are
 * ignored. Signatures by other keys count even if invalid: a merge would lose
 * them.
 */
bool tkb_signer_is_alone(const struct tkb_signer *signer, const char *ref,
                         const struct tkb_subject *subject);

/* Sign a record, and add the envelope to the remote. `targets` may be NULL. */
TKB_NODISCARD int tkb_signer_sign(const struct tkb_signer *signer,
                                  struct tkb_remote *remote, const char *ref,
                                  const struct tkb_subject *subject,
                                  const char **targets, size_t target_count,
                                  struct tkb_error *err);

#endif
