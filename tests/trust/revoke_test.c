/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

#include <unistd.h>

#include "base/digest.h"
#include "fleet/compact.h"
#include "forge.h"
#include "records/records.h"
#include "trust/revocations.h"

/* Lists of what is revoked, and that nothing of them can be changed. */

#define LISTS "@revoked"
#define NOW UINT64_C(1800000000)

/* "security" may revoke. */
static struct fleet *arrange(void)
{
	return arrange_fleet((struct tkb_trust_key){ .name = "security",
	                                             .is_revoker = true },
	                     text("%s/seen", test_folder()));
}

static struct tkb_revoke_report revoke_by(struct tkb_remote *remote,
                                          const struct tkb_key *key,
                                          const struct tkb_digest *digests,
                                          size_t count)
{
	struct tkb_revoke_report report = { SIZED(report) };

	OK(tkb_revoke(remote, digests, count, signing_with(key), &report, ERR));
	return report;
}

static struct tkb_digest digest(const char *of)
{
	return digest_of(tkb_text(of));
}

TEST(revoked, is_whatever_a_digest_of_the_list_is_of)
{
	struct fleet *fleet = with_pool(arrange());
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { .count = 0 };
	struct tkb_subject subject;

	OK(tkb_record_list_read(fleet->remote, REF, true, &records, ERR));
	OK(tkb_record_subject(&records.items[0], &subject, ERR));
	const struct {
		struct tkb_digest digest;
		const char *words;
	} cases[] = {
		{ records.items[0].digest, "it is revoked" },
		{ records.items[0].blob, "it is revoked" },
		{ subject.bundle, "it is revoked" },
		{ subject.content, "it is revoked" },
		{ fleet->ci->id, "'ci' has signed it, whose key is revoked" },
	};

	EACH(i, cases) {
		CHECK_INT(tkb_ref_delete(fleet->remote, LISTS, NULL, ERR),
		          i == 0 ? TKB_MISS : 0);
		(void)revoke_by(fleet->remote, fleet->second, &cases[i].digest,
		                1);
		if (i > 0)
			SYS(unlink(fleet->trust.memory));
		spy_reset();
		FAILS(pull_from(fleet->strict, "pulled"), TKB_ERR_UNTRUSTED,
		      cases[i].words);
		CHECK_INT(spy_count(SPY_GET), 0);
	}
	CHECK(!exists(text("%s/pulled", test_folder())));
}

TEST(revoked, stays_what_older_lists_have)
{
	struct fleet *fleet = with_pool(arrange());
	const struct tkb_digest one = digest("one");
	const struct tkb_digest two = digest("two");
	const struct tkb_digest thrice[] = { one, digest("three"),
		                             digest("three") };
	struct tkb_key *deputy = make_key();
	struct tkb_revoke_report report;

	report = revoke_by(fleet->remote, fleet->second, &one, 1);
	CHECK_INT(report.added_count, 1);
	const uint64_t first = report.sequence;
	report = revoke_by(fleet->remote, fleet->second, &two, 1);
	CHECK_INT(report.revoked_count, 2);
	CHECK(report.sequence > first);
	report = revoke_by(fleet->remote, fleet->second, &one, 1);
	CHECK_INT(report.added_count, 0);
	CHECK_INT(count_under(fleet->remote, LISTS), 1);
	report = revoke_by(fleet->remote, fleet->second, thrice, 3);
	CHECK_INT(report.added_count, 1);
	CHECK_INT(report.revoked_count, 3);
	/* The list of a stranger stands beside it, and is not taken along. */
	report = revoke_by(fleet->remote, deputy, &fleet->ci->id, 1);
	CHECK_INT(report.revoked_count, 1);
	CHECK_INT(count_under(fleet->remote, LISTS), 2);
	CHECK_INT(pull_from(fleet->strict, "pulled"), 0);
	/* Who may revoke by the policy is no stranger. */
	fleet->keys[0].is_revoker = true;
	report = revoke_by(fleet->strict, fleet->ci, NULL, 0);
	CHECK_INT(report.revoked_count, 3);
	CHECK_INT(count_under(fleet->remote, LISTS), 2);
}

/* A list that does not count must not take the place of one that does. */
TEST(revoked, stays_where_a_key_signs_that_may_not_revoke)
{
	struct fleet *fleet = with_pool(arrange());
	struct tkb_key *stranger = make_key();
	const struct tkb_digest one = digest("one");

	(void)revoke_by(fleet->strict, fleet->second, &fleet->ci->id, 1);
	const struct tkb_bytes list = only_text(fleet->remote, LISTS);
	FAILS(tkb_revoke(fleet->strict, &one, 1, signing_with(fleet->ci), NULL,
	                 ERR),
	      TKB_ERR_INVALID, "the policy does not let 'ci' revoke");
	FAILS(tkb_revoke(fleet->strict, NULL, 0, signing_with(stranger), NULL,
	                 ERR),
	      TKB_ERR_INVALID, "the policy does not let key ");
	/* One key that may is not enough: the other's lists would count. */
	const struct tkb_key *const both[] = { fleet->second, fleet->ci };
	const struct tkb_signing signing = { SIZED(signing), .keys = both,
		                             .key_count = 2 };
	FAILS(tkb_revoke(fleet->strict, NULL, 0, &signing, NULL, ERR),
	      TKB_ERR_INVALID, "the policy does not let 'ci' revoke");
	fleet->keys[1].not_after_s = 1;
	FAILS(tkb_revoke(fleet->strict, NULL, 0, signing_with(fleet->second),
	                 NULL, ERR),
	      TKB_ERR_INVALID, "the policy does not let 'security' revoke");
	fleet->keys[1].not_after_s = 0;
	CHECK(tkb_bytes_equal(only_text(fleet->remote, LISTS), list));
	FAILS(pull_from(fleet->strict, "pulled"), TKB_ERR_UNTRUSTED,
	      "whose key is revoked");
}

TEST(revoked, is_never_a_key_that_may_revoke)
{
	struct fleet *fleet = arrange();
	struct tkb_key *deputy = make_key();
	const struct tkb_signing *signing = signing_with(fleet->second);

	FAILS(tkb_revoke(fleet->strict, &fleet->second->id, 1, signing, NULL,
	                 ERR),
	      TKB_ERR_INVALID,
	      "'security' may revoke, and a list cannot revoke its own keys: "
	      "remove it from the policies");
	FAILS(tkb_revoke(fleet->remote, &fleet->second->id, 1, signing, NULL,
	                 ERR),
	      TKB_ERR_INVALID, "a key that signs a list cannot be revoked");
	fleet->keys[0].is_revoker = true;
	FAILS(tkb_revoke(fleet->strict, &fleet->ci->id, 1, signing, NULL, ERR),
	      TKB_ERR_INVALID, "'ci' may revoke");
	CHECK_INT(count_under(fleet->remote, LISTS), 0);
	(void)revoke_by(fleet->strict, fleet->second, &deputy->id, 1);
}

TEST(revoked, is_nothing_less_where_several_revoke_at_once)
{
	enum {
		WRITERS = 5
	};
	struct fleet *fleet = arrange();
	const char *url = text("%s/shared", test_folder());
	const struct tkb_key *const key = fleet->second;
	TKB_AUTO(tkb_revocations_release)
	struct tkb_revocations found = { .count = 0 };
	struct tkb_remote *remote = NULL;
	pid_t children[WRITERS];

	for (unsigned i = 0; i < WRITERS; i++) {
		const struct tkb_digest own = digest(text("%u", i));

		children[i] = must_fork();
		if (children[i] == 0)
			_exit(tkb_remote_open(url, NULL, &remote, NULL) != 0 ||
			      tkb_revoke(remote, &own, 1, signing_with(key),
			                 NULL, NULL) != 0);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		CHECK_INT(end_of(children[i]), 0);
	OK(tkb_remote_open(url, NULL, &remote, ERR));
	OK(tkb_revocations_read(remote, &key, 1, NOW, NULL, &found, ERR));
	CHECK_INT(found.all.digests.count, WRITERS);
	tkb_remote_close(remote);
}

TEST(list, that_is_hidden_older_or_ended_is_noticed)
{
	struct fleet *fleet = with_pool(arrange());

	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED,
	      "has no revocation list");
	(void)revoke_by(fleet->remote, fleet->second, NULL, 0);
	const struct tkb_bytes old = only_text(fleet->remote, LISTS);
	CHECK_INT(pull_from(fleet->strict, "one"), 0);

	(void)revoke_by(fleet->remote, fleet->second, NULL, 0);
	CHECK_INT(pull_from(fleet->strict, "two"), 0);
	OK(tkb_ref_delete(fleet->remote, LISTS, NULL, ERR));
	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED,
	      "has no revocation list");
	OK(tkb_remote_add(fleet->remote, LISTS, old, ERR));
	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED,
	      "older than one that was seen here");

	struct tkb_signing *signing = signing_with(fleet->second);
	signing->lifetime_s = 1;
	OK(tkb_revoke(fleet->remote, NULL, 0, signing, NULL, ERR));
	(void)sleep(2);
	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED,
	      "its revocation list ended at 20");
	CHECK(!exists(text("%s/cold", test_folder())));
}

/* Signed again, it would look like the newest, and revoke less. */
TEST(list, that_is_hidden_or_older_is_not_signed_again)
{
	struct fleet *fleet = with_pool(arrange());
	const struct tkb_digest one = digest("one");
	const struct tkb_signing *signing = signing_with(fleet->second);
	struct tkb_revoke_report report;

	CHECK(revoke_by(fleet->strict, fleet->second, NULL, 0).is_new);
	const struct tkb_bytes old = only_text(fleet->remote, LISTS);
	report = revoke_by(fleet->strict, fleet->second, &fleet->ci->id, 1);
	CHECK(!report.is_new);
	const struct tkb_bytes newest = only_text(fleet->remote, LISTS);

	/* What was revoked here was seen here. */
	OK(tkb_ref_delete(fleet->remote, LISTS, NULL, ERR));
	FAILS(tkb_revoke(fleet->strict, NULL, 0, signing, NULL, ERR),
	      TKB_ERR_UNTRUSTED, "shows no list, and one was seen here");
	CHECK_INT(count_under(fleet->remote, LISTS), 0);
	OK(tkb_remote_add(fleet->remote, LISTS, old, ERR));
	FAILS(tkb_revoke(fleet->strict, &one, 1, signing, NULL, ERR),
	      TKB_ERR_UNTRUSTED, "shows an older list than was seen here");
	CHECK(tkb_bytes_equal(only_text(fleet->remote, LISTS), old));
	CHECK_INT(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED);

	/* Put back, it goes on; so does what a pull has seen. */
	OK(tkb_remote_add(fleet->remote, LISTS, newest, ERR));
	report = revoke_by(fleet->remote, fleet->second, &one, 1);
	CHECK_INT(report.revoked_count, 2);
	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED,
	      "whose key is revoked");
	OK(tkb_ref_delete(fleet->remote, LISTS, NULL, ERR));
	FAILS(tkb_revoke(fleet->strict, NULL, 0, signing, NULL, ERR),
	      TKB_ERR_UNTRUSTED, fleet->trust.memory);

	/* Who has seen nothing begins anew, and says so. */
	SYS(unlink(fleet->trust.memory));
	CHECK(revoke_by(fleet->strict, fleet->second, NULL, 0).is_new);
	CHECK_INT(pull_from(fleet->strict, "warm"), 0);
}

/* What the policy was told of a list, and how often. */
struct told_lists {
	struct tkb_revoked_list last;
	unsigned count;
};

static void note_list(void *self, const struct tkb_revoked_list *list)
{
	struct told_lists *told = self;

	told->last = *list;
	told->count++;
}

TEST(list, that_counts_is_told)
{
	const char *root = pool();
	struct fleet *fleet = arrange();
	const struct tkb_digest one = digest("one");
	struct told_lists told = { .count = 0 };
	struct tkb_revoke_report report;

	fleet->trust.self = &told;
	fleet->trust.on_revoked_list = note_list;
	(void)push_signed(fleet->remote, root, fleet->ci);
	(void)revoke_by(fleet->remote, fleet->ci, NULL, 0);
	report = revoke_by(fleet->remote, fleet->second, &one, 1);
	CHECK_INT(pull_from(fleet->strict, "one"), 0);
	CHECK_INT(told.count, 1);
	CHECK_STR(told.last.signer, "security");
	CHECK_INT(told.last.sequence, report.sequence);
	CHECK_INT(told.last.revoked_count, 1);
	const uint64_t end_s = told.last.expires_s;
	CHECK(end_s > report.sequence + (uint64_t)89 * 24 * 60 * 60);
	/* It counts no longer than its key. */
	fleet->keys[1].not_after_s = end_s - 1;
	CHECK_INT(pull_from(fleet->strict, "two"), 0);
	CHECK_INT(told.last.expires_s, end_s - 1);
	CHECK_INT(told.count, 2);
}

/* A list of two digests, as it lies in a remote. */
static struct tkb_bytes make_list(const struct tkb_key *key, uint64_t sequence,
                                  uint64_t expires_s)
{
	struct tkb_revocation list = { .sequence = sequence,
		                       .expires_s = expires_s };
	struct tkb_buf *payload = test_buf(TKB_MIB);
	struct tkb_buf *out = test_buf(TKB_MIB);
	const struct tkb_digest one = digest("one");
	const struct tkb_digest two = digest("two");

	OK(tkb_digests_add(&list.digests, &one, ERR));
	OK(tkb_digests_add(&list.digests, &two, ERR));
	tkb_digests_sort(&list.digests);
	OK(tkb_revocation_write(&list, payload, ERR));
	OK(tkb_envelope_seal(tkb_buf_bytes(payload), &key, 1, out, ERR));
	tkb_revocation_release(&list);
	return tkb_buf_bytes(out);
}

/* How many lists of the key does a remote have in which this one lies alone? */
static size_t count_lists(const struct tkb_key *key, struct tkb_bytes list)
{
	TKB_AUTO(tkb_revocations_release)
	struct tkb_revocations found = { .count = 0 };
	struct tkb_remote *remote = NULL;
	size_t count;

	OK(tkb_remote_open("memory://lists", NULL, &remote, ERR));
	OK(tkb_remote_add(remote, LISTS, list, ERR));
	OK(tkb_revocations_read(remote, &key, 1, NOW, NULL, &found, ERR));
	count = found.has_current ? found.count : 0;
	tkb_remote_close(remote);
	return count;
}

static bool is_list(void *self, struct tkb_bytes bytes)
{
	return bytes.size != 0 && count_lists(self, bytes) != 0;
}

TEST(list, with_a_flipped_bit_is_none)
{
	for (enum tkb_key_kind kind = 0; kind <= TKB_KEY_KIND_P256; kind++) {
		struct tkb_key *key = test_key(kind);
		const struct tkb_bytes whole = make_list(key, 7, NOW + 1);

		check_damaged(whole, is_list, key);
		CHECK_INT(count_lists(key, whole), 1);
	}
}

TEST(list, that_another_key_signed_or_that_ended_is_none)
{
	struct tkb_key *key = make_key();
	struct tkb_key *other = make_key();

	CHECK_INT(count_lists(key, make_list(key, 7, NOW + 1)), 1);
	CHECK_INT(count_lists(key, make_list(key, 7, NOW)), 0);
	CHECK_INT(count_lists(key, make_list(other, 7, NOW + 1)), 0);
}

/* A signed statement of one kind is none of the other. */
TEST(list, is_no_signature_of_a_record_nor_is_that_a_list)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_key *key = make_key();
	const struct tkb_key *const keys[] = { key };
	const struct tkb_statement statement = { .ref = "model/a",
		                                 .sequence = 7,
		                                 .expires_s = NOW + 1 };
	struct tkb_buf *signature = test_buf(TKB_MIB);
	struct tkb_envelope envelope;

	OK(tkb_envelope_make(&statement, keys, 1, signature, ERR));
	CHECK_INT(count_lists(key, tkb_buf_bytes(signature)), 0);
	FAILS(tkb_envelope_read(make_list(key, 7, NOW + 1), &arena, &envelope,
	                        ERR),
	      TKB_ERR_CORRUPT, "");
}

TEST(list, with_what_is_not_known_is_refused)
{
	static const struct {
		const char *from;
		const char *to;
		const char *part;
	} cases[] = {
		{ "Statement/v1", "Statement/v2", "not an in-toto Statement" },
		{ "revocation/v1", "revocation/v0", "not about what" },
		{ "revocation/v1", "record/v1", "not about what" },
		{ "\"sequence\":7", "\"sequences\":7", "not known" },
		{ "\"sequence\":7", "\"sequence\":7,\"sequence\":9", "twice" },
		{ "\"sequence\":7", "\"sequence\":-7", "" },
		{ "\"expires\":\"20", "\"expires\":\"x0", "a time" },
		{ "\"name\":\"revoked\"", "\"name\":\"trusted\"",
		  "another name" },
		{ "\"subject\"", "\"subjects\"", "not known" },
		{ "\"sha256\":\"", "\"sha256\":\"0", "" },
	};
	struct tkb_revocation list = { .sequence = 7, .expires_s = NOW };
	struct tkb_revocation read = { .sequence = 0 };
	struct tkb_buf *whole = test_buf(TKB_MIB);
	const struct tkb_digest one = digest("one");
	const struct tkb_digest two = digest("two");

	OK(tkb_digests_add(&list.digests, &one, ERR));
	OK(tkb_revocation_write(&list, whole, ERR));
	OK(tkb_revocation_read(tkb_buf_bytes(whole), &read, ERR));
	CHECK_INT(read.sequence, 7);
	CHECK_INT(read.expires_s, NOW);
	CHECK_INT(read.digests.count, 1);
	tkb_revocation_release(&read);
	const char *text_of =
		text("%.*s", (int)whole->size, (const char *)whole->data);
	EACH(i, cases)
		FAILS(tkb_revocation_read(
			      tkb_text(forge_replace(text_of, cases[i].from,
		                                     cases[i].to)),
			      &read, ERR),
		      TKB_ERR_CORRUPT, cases[i].part);

	/* There is one order, and nothing twice. */
	OK(tkb_digests_add(&list.digests, &one, ERR));
	tkb_buf_reset(whole);
	OK(tkb_revocation_write(&list, whole, ERR));
	FAILS(tkb_revocation_read(tkb_buf_bytes(whole), &read, ERR),
	      TKB_ERR_CORRUPT, "not sorted");
	list.digests.items[0] = tkb_digest_compare(&one, &two) > 0 ? one : two;
	list.digests.items[1] = tkb_digest_compare(&one, &two) > 0 ? two : one;
	tkb_buf_reset(whole);
	OK(tkb_revocation_write(&list, whole, ERR));
	FAILS(tkb_revocation_read(tkb_buf_bytes(whole), &read, ERR),
	      TKB_ERR_CORRUPT, "not sorted");
	tkb_revocation_release(&list);
}

TEST(list, of_more_than_it_holds_is_not_written)
{
	struct fleet *fleet = arrange();
	struct tkb_digest *many =
		test_alloc((TKB_REVOCATION_LIMIT + 1) * sizeof(*many));

	for (size_t i = 0; i <= TKB_REVOCATION_LIMIT; i++)
		many[i] = digest(text("%zu", i));
	CHECK_INT(revoke_by(fleet->remote, fleet->second, many,
	                    TKB_REVOCATION_LIMIT)
	                  .revoked_count,
	          TKB_REVOCATION_LIMIT);
	FAILS(tkb_revoke(fleet->remote, many, TKB_REVOCATION_LIMIT + 1,
	                 signing_with(fleet->second), NULL, ERR),
	      TKB_ERR_TOO_LARGE, "at most 4096");
	CHECK_INT(count_under(fleet->remote, LISTS), 1);
}

/* Merged with others, its digest would be another one. */
TEST(compaction, leaves_what_is_revoked_as_it_is)
{
	struct fleet *fleet = arrange();
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { .count = 0 };
	uint64_t count = 0;

	push_singly(fleet->remote, 3);
	OK(tkb_record_list_read(fleet->remote, REF, true, &records, ERR));
	const struct tkb_digest revoked = records.items[1].digest;
	(void)revoke_by(fleet->remote, fleet->second, &revoked, 1);
	OK(tkb_compact(fleet->remote, REF, &records, NULL, &count, ERR));
	CHECK_INT(count, 2);
	tkb_record_list_release(&records);
	OK(tkb_record_list_read(fleet->remote, REF, true, &records, ERR));
	CHECK_INT(records.count, 2);
	CHECK(is_same_digest(&records.items[0].digest, &revoked) ||
	      is_same_digest(&records.items[1].digest, &revoked));
}

TEST(ref, that_goes_back_is_refused_where_the_policy_says_so)
{
	const char *root = pool();
	struct fleet *fleet = arrange();
	struct tkb_sign_options renewal =
		sign_with(fleet->ci, TKB_TRUST_STAGE_DEV);

	renewal.is_renewal = true;
	fleet->keys[1].is_revoker = false;
	fleet->trust.is_replay_refused = true;
	(void)push_signed(fleet->remote, root, fleet->ci);
	const struct tkb_bytes old = only_text(fleet->remote, SIGNED);
	OK(tkb_ref_sign(fleet->remote, REF, &renewal, NULL, ERR));
	CHECK_INT(pull_from(fleet->strict, "one"), 0);
	OK(tkb_ref_delete(fleet->remote, SIGNED, NULL, ERR));
	OK(tkb_remote_add(fleet->remote, SIGNED, old, ERR));
	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED,
	      "older than one that was seen here");
	fleet->trust.unsigned_records = TKB_UNSIGNED_ACCEPT;
	CHECK_INT(pull_from(fleet->strict, "cold"), TKB_ERR_UNTRUSTED);
	CHECK(!exists(text("%s/cold", test_folder())));
	/* Signed anew, it is the newest again. */
	OK(tkb_ref_sign(fleet->remote, REF, &renewal, NULL, ERR));
	fleet->trust.memory = NULL;
	FAILS(pull_from(fleet->strict, "cold"), TKB_ERR_INVALID,
	      "needs a memory");
}
