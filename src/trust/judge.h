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

/* What tkb_judge() needs to judge records. */
struct tkb_case {
	const struct tkb_trust *trust; /* checked by tkb_trust_read() */
	const struct tkb_envelopes *envelopes;
	const struct tkb_digests *revoked; /* sorted; may include keys. NULL:
	                                      nothing is revoked */
	const char *ref;
	uint64_t now_s;
};

enum {
	TKB_JUDGE_WORDS = 400,
	TKB_TRUST_KEYS = 64 /* most keys of one policy */
};

/* The result. */
struct tkb_opinion {
	enum tkb_judgement judgement;
	char words[TKB_JUDGE_WORDS]; /* why it is not trusted, as the end of a
	                                sentence: "its signature by 'ci' ended" */
	/* The signatures that count, newest first. */
	struct tkb_signature signatures[TKB_TRUST_KEYS];
	size_t signature_count;
};

/* Copy and check a policy. What it points to is not copied. */
TKB_NODISCARD int tkb_trust_read(struct tkb_trust *own,
                                 const struct tkb_trust *given,
                                 struct tkb_error *err);

/*
 * May one of these keys promote to the ref? If the policy lets no key promote to
 * it, the answer is yes.
 */
bool tkb_trust_lets_promote(const struct tkb_trust *trust,
                            const struct tkb_signing *signing, const char *ref);

/* Do the key's signatures count no more? */
bool tkb_trust_is_past(const struct tkb_trust_key *key, uint64_t now_s);

/* Until when does a signature of the key count that expires at `expires_s`? */
uint64_t tkb_trust_until(const struct tkb_trust_key *key, uint64_t expires_s);

/* May this key sign a list of what is revoked, now? */
bool tkb_trust_lets_revoke(const struct tkb_trust_key *key, uint64_t now_s);

/* Is the ref in the inbox? Records there are used only once promoted. */
bool tkb_trust_keeps_back(const struct tkb_trust *trust, const char *ref);

/* Judge the record of `subject`. */
TKB_NODISCARD int tkb_judge(const struct tkb_case *judged,
                            const struct tkb_subject *subject,
                            struct tkb_opinion *out, struct tkb_error *err);

#endif
