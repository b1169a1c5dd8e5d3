/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/revocations.h"

#include <stdio.h>

#include "remote/remote.h"
#include "trust/date.h"
#include "trust/judge.h"
#include "trust/memory.h"

void tkb_revocations_release(struct tkb_revocations *revocations)
{
	tkb_revocation_release(&revocations->all);
	tkb_digests_release(&revocations->lists);
	*revocations = (struct tkb_revocations){ .count = 0 };
}

/* The lists of a remote while they are read. */
struct gathering {
	const struct tkb_key *const *keys;
	size_t key_count;
	uint64_t now_s;
	const struct tkb_trust *told; /* NULL: nobody is told */
	struct tkb_revocations found;
};

/* `*signer_out` is NULL where there are no keys. */
static int is_signed(const struct gathering *gathering,
                     const struct tkb_envelope *envelope, bool *out,
                     const struct tkb_key **signer_out, struct tkb_error *err)
{
	int rc = 0;

	*out = gathering->keys == NULL;
	*signer_out = NULL;
	for (size_t i = 0; i < gathering->key_count && rc == 0 && !*out; i++) {
		*signer_out = gathering->keys[i];
		rc = tkb_envelope_check(envelope, gathering->keys[i], out, err);
	}
	return rc;
}

static void tell_list(const struct gathering *gathering,
                      const struct tkb_revocation *list,
                      const struct tkb_key *signer)
{
	const struct tkb_trust *told = gathering->told;
	struct tkb_revoked_list info = { .sequence = list->sequence,
		                         .revoked_count = list->digests.count };
	const struct tkb_trust_key *key;

	if (told == NULL || told->on_revoked_list == NULL ||
	    list->expires_s <= gathering->now_s)
		return;
	key = tkb_trust_find_key(told, &signer->id);
	info.signer = key->name;
	info.expires_s = tkb_trust_until(key, list->expires_s);
	told->on_revoked_list(told->self, &info);
}

static int add_list(struct gathering *gathering,
                    const struct tkb_digest *digest,
                    const struct tkb_revocation *list, struct tkb_error *err)
{
	struct tkb_revocations *found = &gathering->found;
	int rc;

	rc = tkb_digests_add(&found->lists, digest, err);
	for (size_t i = 0; i < list->digests.count && rc == 0; i++)
		rc = tkb_digests_add(&found->all.digests,
		                     &list->digests.items[i], err);
	found->count++;
	if (list->sequence > found->all.sequence)
		found->all.sequence = list->sequence;
	if (list->expires_s > found->all.expires_s)
		found->all.expires_s = list->expires_s;
	if (list->expires_s <= gathering->now_s)
		return rc;
	found->has_current = true;
	if (list->sequence > found->newest)
		found->newest = list->sequence;
	return rc;
}

/* Ignore what is not such a list, or is not signed by one of the keys. */
static int keep_revocation(void *self, const struct tkb_digest *digest,
                           struct tkb_bytes text, uint64_t age_s,
                           struct tkb_error *err)
{
	struct gathering *gathering = self;
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_revocation_release)
	struct tkb_revocation list = { .sequence = 0 };
	struct tkb_envelope envelope = { .is_known = false };
	const struct tkb_key *signer = NULL;
	bool is_good = false;
	int rc;

	(void)age_s;
	if (text.size > TKB_REVOCATION_TEXT_LIMIT)
		return 0;
	rc = tkb_envelope_open(text, &arena, &envelope, NULL);
	if (rc == 0) {
		rc = is_signed(gathering, &envelope, &is_good, &signer, err);
		if (rc < 0 || !is_good)
			return rc;
		rc = tkb_revocation_read(envelope.payload, &list, NULL);
	}
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0)
		return 0;
	tell_list(gathering, &list, signer);
	return add_list(gathering, digest, &list, err);
}

int tkb_revocations_read(struct tkb_remote *remote,
                         const struct tkb_key *const *keys, size_t key_count,
                         uint64_t now_s, const struct tkb_trust *told,
                         struct tkb_revocations *out, struct tkb_error *err)
{
	struct gathering gathering = { .keys = keys,
		                       .key_count = key_count,
		                       .now_s = now_s,
		                       .told = told };
	const struct tkb_record_visitor visitor = {
		.on_record = keep_revocation,
		.self = &gathering,
		.on_unread = tkb_record_ignore_unread
	};
	int rc;

	rc = tkb_remote_records(remote, TKB_REVOKED_NAME, &visitor, err);
	tkb_digests_sort(&gathering.found.all.digests);
	*out = gathering.found;
	return rc;
}

static int fail_untrusted(const struct tkb_remote *remote, const char *what,
                          struct tkb_error *err)
{
	return tkb_fail(
		err, TKB_ERR_UNTRUSTED, "remote '%.200s' is not trusted: %s",
		tkb_remote_tier_name(remote, tkb_remote_tier_count(remote) - 1),
		what);
}

/* Fail if this machine has seen a newer list before. */
static int recall_newest(struct tkb_remote *remote,
                         const struct tkb_trust *trust, uint64_t newest,
                         struct tkb_error *err)
{
	struct tkb_digest name;
	uint64_t seen = 0;
	int rc;

	if (trust->memory == NULL)
		return 0;
	rc = tkb_memory_name(remote, TKB_REVOKED_NAME, &name, err);
	if (rc == 0)
		rc = tkb_memory_note(trust->memory, &name, newest, &seen, err);
	if (rc == 0 && seen > newest)
		return fail_untrusted(remote,
		                      "its revocation list is older than one "
		                      "that was seen here",
		                      err);
	return rc;
}

int tkb_revocations_check(struct tkb_remote *remote,
                          const struct tkb_trust *trust, uint64_t now_s,
                          struct tkb_revocations *out, struct tkb_error *err)
{
	const struct tkb_key *keys[TKB_TRUST_KEYS];
	char when[TKB_TIME_TEXT_SIZE];
	char words[100];
	size_t count = 0;
	bool is_wanted = false;
	int rc;

	for (size_t i = 0; i < trust->key_count; i++) {
		const struct tkb_trust_key *key = &trust->keys[i];

		is_wanted = is_wanted || key->is_revoker;
		if (tkb_trust_lets_revoke(key, now_s))
			keys[count++] = key->key;
	}
	if (!is_wanted)
		return 0;
	rc = tkb_revocations_read(remote, keys, count, now_s, trust, out, err);
	if (rc < 0)
		return rc;
	if (out->count == 0)
		return fail_untrusted(remote,
		                      "it has no revocation list by a key "
		                      "that may revoke",
		                      err);
	if (!out->has_current) {
		tkb_time_text(out->all.expires_s, when);
		(void)snprintf(words, sizeof(words),
		               "its revocation list ended at %s", when);
		return fail_untrusted(remote, words, err);
	}
	return recall_newest(remote, trust, out->newest, err);
}
