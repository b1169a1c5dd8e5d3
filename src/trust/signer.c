/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/signer.h"

#include "base/digest.h"
#include "base/struct.h"
#include "trust/date.h"

#define LIFETIME_S ((uint64_t)90 * 24 * 60 * 60)

void tkb_signer_release(struct tkb_signer *signer)
{
	tkb_envelopes_release(&signer->envelopes);
}

static int check_keys(const struct tkb_signing *signing, struct tkb_error *err)
{
	if (signing->key_count == 0 ||
	    signing->key_count > TKB_SIGNATURES_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "1 to %d keys sign at once, not %zu",
		                TKB_SIGNATURES_LIMIT, signing->key_count);
	for (size_t i = 0; i < signing->key_count; i++) {
		if (!signing->keys[i]->is_private)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "a public key cannot sign");
	}
	if (tkb_stage_name(signing->stage) == NULL)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no stage %d",
		                (int)signing->stage);
	return 0;
}

int tkb_signing_read(struct tkb_signing *own, const struct tkb_signing *given,
                     struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_signing, lifetime_s, own, given, err);
	if (rc == 0)
		rc = check_keys(own, err);
	if (rc == 0 && own->lifetime_s == 0)
		own->lifetime_s = LIFETIME_S;
	return rc;
}

/* Have all keys of the signer signed the record for this ref and stage? */
static int is_signed_by_all(const struct tkb_signer *signer, const char *ref,
                            const struct tkb_envelope *envelope, bool *out,
                            struct tkb_error *err)
{
	const struct tkb_statement *statement = &envelope->statement;
	bool is_good = envelope->is_known && strcmp(statement->ref, ref) == 0 &&
	               statement->stage == signer->signing.stage;
	int rc = 0;

	for (size_t i = 0; i < signer->signing.key_count && is_good && rc == 0;
	     i++)
		rc = tkb_envelope_check(envelope, signer->signing.keys[i],
		                        &is_good, err);
	*out = is_good;
	return rc;
}

int tkb_signer_begin(struct tkb_signer *signer, const struct tkb_signing *given,
                     struct tkb_remote *remote, const char *ref,
                     struct tkb_error *err)
{
	int rc;

	rc = tkb_signing_read(&signer->signing, given, err);
	if (rc == 0)
		rc = tkb_envelopes_read(remote, ref, &signer->envelopes, err);
	if (rc < 0)
		return rc;
	signer->now_s = tkb_time_now();
	signer->expires_s = signer->now_s + signer->signing.lifetime_s;
	signer->sequence = signer->now_s;
	for (size_t i = 0; i < signer->envelopes.count && rc == 0; i++) {
		const struct tkb_envelope *envelope =
			&signer->envelopes.items[i];
		const uint64_t sequence = envelope->statement.sequence;
		bool is_good = false;

		if (sequence >= signer->sequence && sequence != UINT64_MAX)
			rc = is_signed_by_all(signer, ref, envelope, &is_good,
			                      err);
		if (is_good)
			signer->sequence = sequence + 1;
	}
	return rc;
}

int tkb_signer_knows(const struct tkb_signer *signer, const char *ref,
                     const struct tkb_subject *subject, bool *out,
                     struct tkb_error *err)
{
	bool is_good = false;
	int rc = 0;

	for (size_t i = 0; i < signer->envelopes.count && !is_good && rc == 0;
	     i++) {
		const struct tkb_envelope *envelope =
			&signer->envelopes.items[i];

		if (tkb_envelope_is_of(envelope, subject) &&
		    envelope->statement.expires_s > signer->now_s)
			rc = is_signed_by_all(signer, ref, envelope, &is_good,
			                      err);
	}
	*out = is_good;
	return rc;
}

bool tkb_signing_has_key(const struct tkb_signing *signing,
                         const struct tkb_digest *id)
{
	for (size_t i = 0; i < signing->key_count; i++) {
		if (tkb_digest_equal(&signing->keys[i]->id, id))
			return true;
	}
	return false;
}

bool tkb_signer_is_alone(const struct tkb_signer *signer, const char *ref,
                         const struct tkb_subject *subject)
{
	for (size_t i = 0; i < signer->envelopes.count; i++) {
		const struct tkb_envelope *envelope =
			&signer->envelopes.items[i];

		if (!tkb_envelope_is_of(envelope, subject) ||
		    strcmp(envelope->statement.ref, ref) != 0 ||
		    envelope->statement.expires_s <= signer->now_s)
			continue;
		for (size_t k = 0; k < envelope->signature_count; k++) {
			if (!tkb_signing_has_key(&signer->signing,
			                         &envelope->signatures[k].key))
				return false;
		}
	}
	return true;
}

int tkb_signer_sign(const struct tkb_signer *signer, struct tkb_remote *remote,
                    const char *ref, const struct tkb_subject *subject,
                    const char **targets, size_t target_count,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf envelope = TKB_BUF_INIT(TKB_ENVELOPE_LIMIT);
	const struct tkb_statement statement = {
		.ref = ref,
		.subject = *subject,
		.sequence = signer->sequence,
		.expires_s = signer->expires_s,
		.stage = signer->signing.stage,
		.targets = targets,
		.target_count = target_count,
	};
	int rc;

	rc = tkb_envelope_make(&statement, signer->signing.keys,
	                       signer->signing.key_count, &envelope, err);
	if (rc < 0)
		return rc;
	return tkb_envelopes_add(remote, ref, tkb_buf_bytes(&envelope), err);
}
