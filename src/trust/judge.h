/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_JUDGE_H
#define TKB_TRUST_JUDGE_H

/* Does a policy trust a record? See struct tkb_trust. */

#include "base/digest.h"
#include "trust/envelopes.h"

enum tkb_judgement {
	TKB_TRUSTED,
	TKB_UNSIGNED, /* no key of the policy has signed it */
	TKB_REFUSED   /* one has, but its signature does not count */
};

/* What is judged. */
struct tkb_case {
	const struct tkb_trust *trust; /* checked */
	const struct tkb_envelopes *envelopes;
	const struct tkb_digests *revoked; /* sorted; keys may be among them.
	                                      NULL: nothing is */
	const char *ref;
	uint64_t now_s;
};

enum {
	TKB_JUDGE_WORDS = 400,
	TKB_TRUST_KEYS = 64 /* of a policy, at most */
};

/* The result. */
struct tkb_opinion {
	enum tkb_judgement judgement;
	char words[TKB_JUDGE_WORDS]; /* why it is not trusted, as the end of a
	                                sentence: "its signature by 'ci' ended" */
	/* Those that count, the newest first. */
	struct tkb_signature signatures[TKB_TRUST_KEYS];
	size_t signature_count;
};

/* Copy and check a policy; what it points to is kept by reference. */
TKB_NODISCARD int tkb_trust_read(struct tkb_trust *own,
                                 const struct tkb_trust *given,
                                 struct tkb_error *err);

/*
 * May one of these keys promote to the ref? Yes, too, if the policy names no key
 * that may.
 */
bool tkb_trust_lets_promote(const struct tkb_trust *trust,
                            const struct tkb_signing *signing, const char *ref);

/* May this key sign a list of what is revoked, now? */
bool tkb_trust_lets_revoke(const struct tkb_trust_key *key, uint64_t now_s);

/* The stage that signatures of the ref must be for. */
enum tkb_trust_stage tkb_trust_stage_of(const struct tkb_trust *trust,
                                        const char *ref);

/* Is it a ref of an inbox, of which nothing is used before it is promoted? */
bool tkb_trust_keeps_back(const struct tkb_trust *trust, const char *ref);

/* Judge the record of `subject`. */
TKB_NODISCARD int tkb_judge(const struct tkb_case *judged,
                            const struct tkb_subject *subject,
                            struct tkb_opinion *out, struct tkb_error *err);

#endif
