/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_SIGNER_H
#define TKB_TRUST_SIGNER_H

/* Who signs the records of one push. */

#include "trust/envelopes.h"

struct tkb_signer {
	struct tkb_signing signing; /* a copy */
	uint64_t now_s;
	uint64_t expires_s;
	uint64_t sequence;              /* of all that it signs */
	struct tkb_envelopes envelopes; /* of the ref, when it began */
};

void tkb_signer_release(struct tkb_signer *signer);

/* Copy and check how to sign; its lifetime is set. */
TKB_NODISCARD int tkb_signing_read(struct tkb_signing *own,
                                   const struct tkb_signing *given,
                                   struct tkb_error *err);

/*
 * Check what a caller gave, and read the ref's envelopes. The sequence is more than
 * any that these keys have signed for the ref, and no less than the time of day.
 */
TKB_NODISCARD int tkb_signer_begin(struct tkb_signer *signer,
                                   const struct tkb_signing *given,
                                   struct tkb_remote *remote, const char *ref,
                                   struct tkb_error *err);

/*
 * Has each of its keys signed this very record for the ref and stage, by a
 * signature that holds?
 */
TKB_NODISCARD int tkb_signer_knows(const struct tkb_signer *signer,
                                   const char *ref,
                                   const struct tkb_subject *subject, bool *out,
                                   struct tkb_error *err);

/*
 * Does no other key vouch for this record, by a signature of the ref that has not
 * ended? Those of others are not checked: what they say would be lost in any case.
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
