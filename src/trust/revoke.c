/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/signatures.h>

#include "base/digest.h"
#include "base/struct.h"
#include "remote/remote.h"
#include "trust/date.h"
#include "trust/judge.h"
#include "trust/memory.h"
#include "trust/revocations.h"
#include "trust/signer.h"

enum {
	/*
	 * Other processes may add lists meanwhile: each round merges those,
	 * too.
	 */
	ROUNDS = 8
};

/* Who writes a list, and whose lists are merged into it. */
struct revoker {
	struct tkb_remote *remote;
	struct tkb_signing signing;
	struct tkb_trust policy; /* without a policy: no keys */
	const struct tkb_key *keys[TKB_SIGNATURES_LIMIT + TKB_TRUST_KEYS];
	size_t key_count;
	uint64_t now_s;
	struct tkb_digest name; /* of the lists in the policy's memory */
	uint64_t seen;          /* by it: the newest sequence, or 0 */
	struct tkb_revoke_report report;
};

/* A list that does not count by the policy must not replace one that does. */
static int check_signer(const struct revoker *revoker,
                        const struct tkb_key *signer, struct tkb_error *err)
{
	const struct tkb_trust_key *key =
		tkb_trust_find_key(&revoker->policy, &signer->id);

	if (revoker->remote->options.trust == NULL ||
	    (key != NULL && tkb_trust_lets_revoke(key, revoker->now_s)))
		return 0;
	if (key != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the policy does not let '%.200s' revoke",
		                key->name);
	return tkb_fail(err, TKB_ERR_INVALID,
	                "the policy does not let key %.12s revoke",
	                tkb_digest_hex(&signer->id).text);
}

/* Keys whose lists count are not judged by lists. */
static int check_revoked(const struct revoker *revoker,
                         const struct tkb_digest *digest, struct tkb_error *err)
{
	const struct tkb_trust_key *key =
		tkb_trust_find_key(&revoker->policy, digest);

	if (key != NULL && key->is_revoker)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.200s' may revoke, and a list cannot revoke "
		                "its own keys: remove it from the policies",
		                key->name);
	if (tkb_signing_has_key(&revoker->signing, digest))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a key that signs a list cannot be revoked by "
		                "it: remove it from the policies");
	return 0;
}

/* Before the remote is read, where others may write newer lists meanwhile. */
static int recall_seen(struct revoker *revoker, struct tkb_error *err)
{
	const char *memory = revoker->policy.memory;
	int rc = 0;

	if (memory == NULL)
		return 0;
	rc = tkb_memory_name(revoker->remote, TKB_REVOKED_NAME, &revoker->name,
	                     err);
	if (rc == 0)
		rc = tkb_memory_recall(memory, &revoker->name, &revoker->seen,
		                       err);
	return rc < 0 ? rc : 0;
}

/* A list that was lost is not replaced by one with less in it. */
static int check_seen(const struct revoker *revoker,
                      const struct tkb_revocations *known,
                      struct tkb_error *err)
{
	const struct tkb_remote *remote = revoker->remote;

	if (known->all.sequence >= revoker->seen)
		return 0;
	return tkb_fail(
		err, TKB_ERR_UNTRUSTED,
		"remote '%.100s' shows %s: what was revoked would be lost; put "
		"the list back, or revoke all of that again without '%.200s'",
		tkb_remote_tier_name(remote, tkb_remote_tier_count(remote) - 1),
		known->count > 0 ? "an older list than was seen here"
				 : "no list, and one was seen here",
		revoker->policy.memory);
}

/* A remote that shows no list later, or an older one, has lost this one. */
static int note_seen(const struct revoker *revoker, struct tkb_error *err)
{
	uint64_t newest;

	return revoker->policy.memory == NULL
	               ? 0
	               : tkb_memory_note(revoker->policy.memory, &revoker->name,
	                                 revoker->report.sequence, &newest,
	                                 err);
}

static int begin_revoking(struct revoker *revoker,
                          const struct tkb_signing *given,
                          const struct tkb_digest *digests, size_t count,
                          struct tkb_error *err)
{
	const struct tkb_trust *trust = revoker->remote->options.trust;
	int rc;

	revoker->now_s = tkb_time_now();
	rc = tkb_signing_read(&revoker->signing, given, err);
	if (rc == 0 && trust != NULL)
		rc = tkb_trust_read(&revoker->policy, trust, err);
	for (size_t i = 0; i < revoker->signing.key_count && rc == 0; i++) {
		rc = check_signer(revoker, revoker->signing.keys[i], err);
		revoker->keys[revoker->key_count++] = revoker->signing.keys[i];
	}
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = check_revoked(revoker, &digests[i], err);
	if (rc == 0)
		rc = recall_seen(revoker, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < revoker->policy.key_count; i++) {
		if (revoker->policy.keys[i].is_revoker)
			revoker->keys[revoker->key_count++] =
				revoker->policy.keys[i].key;
	}
	return 0;
}

static int write_list(const struct revoker *revoker,
                      const struct tkb_revocation *list, struct tkb_buf *out,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf payload = TKB_BUF_INIT(TKB_REVOCATION_TEXT_LIMIT);
	int rc;

	if (list->digests.count > TKB_REVOCATION_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a list revokes at most %d, not %zu: give the "
		                "rest keys that no policy knows",
		                TKB_REVOCATION_LIMIT, list->digests.count);
	rc = tkb_revocation_write(list, &payload, err);
	if (rc < 0)
		return rc;
	return tkb_envelope_seal(tkb_buf_bytes(&payload), revoker->signing.keys,
	                         revoker->signing.key_count, out, err);
}

/* Add a list of all that `known` and `digests` revoke, and drop those it replaces. */
static int replace_list(struct revoker *revoker, struct tkb_revocations *known,
                        const struct tkb_digest *digests, size_t count,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_REVOCATION_TEXT_LIMIT);
	struct tkb_revocation *list = &known->all;
	struct tkb_digest made;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = tkb_digests_add(&list->digests, &digests[i], err);
	tkb_digests_sort(&list->digests);
	list->sequence =
		list->sequence >= revoker->now_s && list->sequence != UINT64_MAX
			? list->sequence + 1
			: revoker->now_s;
	list->expires_s = revoker->now_s + revoker->signing.lifetime_s;
	if (rc == 0)
		rc = write_list(revoker, list, &text, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&text), &made, err);
	if (rc == 0)
		rc = tkb_remote_add(revoker->remote, TKB_REVOKED_NAME,
		                    tkb_buf_bytes(&text), err);
	for (size_t i = 0; i < known->lists.count && rc >= 0; i++) {
		if (!tkb_digest_equal(&known->lists.items[i], &made))
			rc = tkb_remote_drop(revoker->remote, TKB_REVOKED_NAME,
			                     &known->lists.items[i], err);
	}
	revoker->report.revoked_count = list->digests.count;
	revoker->report.sequence = list->sequence;
	return rc < 0 ? rc : 0;
}

/* Is there exactly one list, and does it have all of `digests`? */
static bool is_done(const struct tkb_revocations *known,
                    const struct revoker *revoker,
                    const struct tkb_digest *digests, size_t count)
{
	if (known->count != 1 || known->all.sequence < revoker->report.sequence)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!tkb_digests_have(&known->all.digests, &digests[i]))
			return false;
	}
	return true;
}

static int revoke_in_rounds(struct revoker *revoker,
                            const struct tkb_digest *digests, size_t count,
                            struct tkb_error *err)
{
	/* If others keep adding lists, several remain: all of them count. */
	for (unsigned round = 0; round < ROUNDS; round++) {
		TKB_AUTO(tkb_revocations_release)
		struct tkb_revocations known = { .count = 0 };
		size_t before;
		int rc;

		rc = tkb_revocations_read(revoker->remote, revoker->keys,
		                          revoker->key_count, revoker->now_s,
		                          NULL, &known, err);
		/* Before anything is written. */
		if (rc == 0 && round == 0)
			rc = check_seen(revoker, &known, err);
		if (rc < 0)
			return rc;
		if (round > 0 && is_done(&known, revoker, digests, count))
			return 0;
		before = known.all.digests.count;
		rc = replace_list(revoker, &known, digests, count, err);
		if (rc < 0)
			return rc;
		if (round == 0) {
			revoker->report.is_new = known.count == 0;
			revoker->report.added_count =
				revoker->report.revoked_count - before;
		}
	}
	return 0;
}

int tkb_revoke(struct tkb_remote *remote, const struct tkb_digest *digests,
               size_t count, const struct tkb_signing *signing,
               struct tkb_revoke_report *report, struct tkb_error *err)
{
	struct revoker revoker = { .remote = remote };
	int rc;

	rc = TKB_STRUCT_CHECK(tkb_revoke_report, sequence, report, err);
	if (rc == 0)
		rc = begin_revoking(&revoker, signing, digests, count, err);
	if (rc == 0)
		rc = revoke_in_rounds(&revoker, digests, count, err);
	if (rc == 0)
		rc = note_seen(&revoker, err);
	if (rc == 0)
		TKB_STRUCT_WRITE(tkb_revoke_report, report, &revoker.report);
	return rc;
}
