/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_JUDGE_H
#define TKB_TRUST_JUDGE_H

/* Does a policy trust a record? See struct tkb_trust. */

#include "trust/envelopes.h"

enum tkb_judgement {
	TKB_TRUSTED,
	TKB_UNSIGNED, /* no key of the policy's has signed it */
	TKB_REFUSED   /* one has, and that does not count */
};

/* What is judged. */
struct tkb_case {
	const struct tkb_trust *trust; /* checked */
	const struct tkb_envelopes *envelopes;
	const char *ref;
	uint64_t now_s;
};

enum {
	TKB_JUDGE_WORDS = 400
};

/* Copy and check a policy; what it points to is kept by reference. */
TKB_NODISCARD int tkb_trust_read(struct tkb_trust *own,
                                 const struct tkb_trust *given,
                                 struct tkb_error *err);

/*
 * Judge the record of `subject`. Where it is not trusted, `words` says why, as the
 * end of a sentence: "its signature by 'ci' ended at ...".
 */
TKB_NODISCARD int tkb_judge(const struct tkb_case *judged,
                            const struct tkb_subject *subject,
                            enum tkb_judgement *out,
                            char words[TKB_JUDGE_WORDS], struct tkb_error *err);

#endif
