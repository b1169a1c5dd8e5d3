/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/judge.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/struct.h"
#include "trust/date.h"
#include "trust/signer.h"

/* One key under two names would count twice. */
static int check_keys(const struct tkb_trust *trust, struct tkb_error *err)
{
	for (size_t i = 0; i < trust->key_count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (tkb_digest_equal(&trust->keys[i].key->id,
			                     &trust->keys[k].key->id))
				return tkb_fail(
					err, TKB_ERR_INVALID,
					"'%s' and '%s' of the policy are the "
					"same key",
					trust->keys[k].name,
					trust->keys[i].name);
		}
	}
	return 0;
}

int tkb_trust_read(struct tkb_trust *own, const struct tkb_trust *given,
                   struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_trust, on_trusted, own, given, err);
	if (rc < 0)
		return rc;
	if (own->key_count > TKB_TRUST_KEYS)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a policy has at most %d keys", TKB_TRUST_KEYS);
	if (own->unsigned_records > TKB_UNSIGNED_ACCEPT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a policy has an unknown rule for unsigned "
		                "records");
	if (own->is_replay_refused && own->memory == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a policy that refuses replays needs a memory");
	if (own->threshold == 0)
		own->threshold = 1;
	if (own->promote_threshold == 0)
		own->promote_threshold = 1;
	return check_keys(own, err);
}

static bool matches_any(const char *const *patterns, size_t count,
                        const char *ref)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(patterns[i], ref, 0) == 0)
			return true;
	}
	return false;
}

enum tkb_trust_stage tkb_trust_stage_of(const struct tkb_trust *trust,
                                        const char *ref)
{
	for (size_t i = 0; i < trust->key_count; i++) {
		if (matches_any(trust->keys[i].promote,
		                trust->keys[i].promote_count, ref))
			return TKB_TRUST_STAGE_PROD;
	}
	return TKB_TRUST_STAGE_DEV;
}

const struct tkb_trust_key *tkb_trust_find_key(const struct tkb_trust *trust,
                                               const struct tkb_digest *id)
{
	for (size_t i = 0; i < trust->key_count; i++) {
		if (tkb_digest_equal(&trust->keys[i].key->id, id))
			return &trust->keys[i];
	}
	return NULL;
}

bool tkb_trust_may_sign(const struct tkb_trust_key *key,
                        enum tkb_trust_stage stage, const char *ref)
{
	return stage == TKB_TRUST_STAGE_PROD
	               ? matches_any(key->promote, key->promote_count, ref)
	               : matches_any(key->publish, key->publish_count, ref);
}

bool tkb_trust_lets_promote(const struct tkb_trust *trust,
                            const struct tkb_signing *signing, const char *ref)
{
	bool is_named = false;

	for (size_t i = 0; i < trust->key_count; i++) {
		const struct tkb_trust_key *key = &trust->keys[i];

		if (!matches_any(key->promote, key->promote_count, ref))
			continue;
		if (tkb_signing_has_key(signing, &key->key->id))
			return true;
		is_named = true;
	}
	return !is_named;
}

bool tkb_trust_is_past(const struct tkb_trust_key *key, uint64_t now_s)
{
	return key->not_after_s != 0 && key->not_after_s < now_s;
}

uint64_t tkb_trust_until(const struct tkb_trust_key *key, uint64_t expires_s)
{
	return tkb_trust_is_past(key, expires_s) ? key->not_after_s : expires_s;
}

bool tkb_trust_lets_revoke(const struct tkb_trust_key *key, uint64_t now_s)
{
	return key->is_revoker && !tkb_trust_is_past(key, now_s);
}

bool tkb_trust_keeps_back(const struct tkb_trust *trust, const char *ref)
{
	const size_t length = trust->inbox != NULL ? strlen(trust->inbox) : 0;

	return length != 0 && trust->unsigned_records == TKB_UNSIGNED_REFUSE &&
	       strncmp(ref, trust->inbox, length) == 0 && ref[length] == '/';
}

/* The state while a verdict is found. */
struct finding {
	const struct tkb_case *judged;
	enum tkb_trust_stage stage;
	bool has_signed[TKB_TRUST_KEYS]; /* by index of the policy's key */
	bool is_claimed;                 /* an envelope names a key of the
	                                    policy */
	struct tkb_opinion *opinion;
};

/* Note why it is not trusted. Returns false, for is_fit(). */
static bool say_why(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool say_why(struct finding *finding, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	(void)vsnprintf(finding->opinion->words, TKB_JUDGE_WORDS, format,
	                values);
	va_end(values);
	return false;
}

static bool names(const struct tkb_envelope *envelope,
                  const struct tkb_key *key)
{
	for (size_t i = 0; i < envelope->signature_count; i++) {
		if (tkb_digest_equal(&envelope->signatures[i].key, &key->id))
			return true;
	}
	return false;
}

/* May a signature by this key count? If not, note why. */
static bool is_fit(struct finding *finding,
                   const struct tkb_statement *statement,
                   const struct tkb_trust_key *key)
{
	const struct tkb_case *judged = finding->judged;
	char when[TKB_TIME_TEXT_SIZE];

	if (judged->revoked != NULL &&
	    tkb_digests_have(judged->revoked, &key->key->id))
		return say_why(finding,
		               "'%s' has signed it, whose key is revoked",
		               key->name);
	if (strcmp(statement->ref, judged->ref) != 0) {
		/* Of an image: see tkb_image_judge(). */
		const bool is_tag = statement->ref[0] == ':';

		return say_why(finding, "'%s' has signed it for %s '%.200s'",
		               key->name, is_tag ? "tag" : "ref",
		               statement->ref + is_tag);
	}
	if (statement->stage != finding->stage)
		return say_why(
			finding,
			"'%s' has signed it for stage '%s', and this ref wants "
			"'%s'",
			key->name, tkb_stage_name(statement->stage),
			tkb_stage_name(finding->stage));
	if (!tkb_trust_may_sign(key, finding->stage, judged->ref))
		return say_why(
			finding, "'%s' has signed it, but may not %s this ref",
			key->name,
			finding->stage == TKB_TRUST_STAGE_PROD ? "promote to"
							       : "publish");
	if (statement->expires_s <= judged->now_s) {
		tkb_time_text(statement->expires_s, when);
		return say_why(finding, "its signature by '%s' ended at %s",
		               key->name, when);
	}
	if (tkb_trust_is_past(key, judged->now_s)) {
		tkb_time_text(key->not_after_s, when);
		return say_why(
			finding,
			"'%s' has signed it, but its signatures counted only "
			"until %s",
			key->name, when);
	}
	return true;
}

/* The newest envelopes come first. */
static void count_signature(struct finding *finding,
                            const struct tkb_statement *statement, size_t index)
{
	const struct tkb_trust_key *key = &finding->judged->trust->keys[index];
	struct tkb_opinion *opinion = finding->opinion;

	finding->has_signed[index] = true;
	opinion->signatures[opinion->signature_count++] =
		(struct tkb_signature){
			.signer = key->name,
			.key = key->key->id,
			.stage = statement->stage,
			.sequence = statement->sequence,
			.expires_s = tkb_trust_until(key, statement->expires_s),
		};
}

static int weigh_key(struct finding *finding,
                     const struct tkb_envelope *envelope, size_t index,
                     struct tkb_error *err)
{
	const struct tkb_trust_key *key = &finding->judged->trust->keys[index];
	bool is_good = false;
	int rc;

	if (finding->has_signed[index] || !names(envelope, key->key))
		return 0;
	finding->is_claimed = true;
	rc = tkb_envelope_check(envelope, key->key, &is_good, err);
	if (rc < 0)
		return rc;
	if (!is_good)
		say_why(finding,
		        "its signature names the key '%s', but is not by it",
		        key->name);
	else if (is_fit(finding, &envelope->statement, key))
		count_signature(finding, &envelope->statement, index);
	return 0;
}

static int weigh(struct finding *finding, const struct tkb_envelope *envelope,
                 struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < finding->judged->trust->key_count && rc == 0;
	     i++)
		rc = weigh_key(finding, envelope, i, err);
	/* Tell a record of an unknown key from one that nobody has signed. */
	if (rc == 0 && !finding->is_claimed && envelope->signature_count > 0)
		say_why(finding,
		        "its signature is by key %.12s, which the policy does "
		        "not have",
		        tkb_digest_hex(&envelope->signatures[0].key).text);
	return rc;
}

int tkb_judge(const struct tkb_case *judged, const struct tkb_subject *subject,
              struct tkb_opinion *out, struct tkb_error *err)
{
	const struct tkb_trust *trust = judged->trust;
	struct finding finding = { .judged = judged,
		                   .stage = tkb_trust_stage_of(trust,
		                                               judged->ref),
		                   .opinion = out };
	const size_t wanted = finding.stage == TKB_TRUST_STAGE_PROD
	                              ? trust->promote_threshold
	                              : trust->threshold;
	int rc = 0;

	*out = (struct tkb_opinion){ .signature_count = 0 };
	say_why(&finding, "no key of the policy has signed it");
	for (size_t i = 0; i < judged->envelopes->count && rc == 0 &&
	                   out->signature_count < wanted;
	     i++) {
		if (tkb_envelope_is_of(&judged->envelopes->items[i], subject))
			rc = weigh(&finding, &judged->envelopes->items[i], err);
	}
	if (rc < 0)
		return rc;
	if (out->signature_count > 0 && out->signature_count < wanted)
		say_why(&finding, "%zu of %zu keys that must have signed it",
		        out->signature_count, wanted);
	out->judgement = out->signature_count >= wanted ? TKB_TRUSTED
	                 : finding.is_claimed           ? TKB_REFUSED
	                                                : TKB_UNSIGNED;
	return 0;
}
