/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "fleet/compact.h"
#include "records/records.h"
#include "trust/judge.h"

/* Signed refs: what is pushed with keys, and pulled under a policy. */

static int pull_from(struct tkb_remote *remote, const char *name,
                     struct tkb_pull_report *report)
{
	test_error = (struct tkb_error){ 0 };
	*report = (struct tkb_pull_report){ SIZED(*report) };
	return tkb_pull(remote, REF, text("%s/%s", test_folder(), name), NULL,
	                report, ERR);
}

TEST(signed_ref, is_pulled_under_a_policy_of_its_key)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_pull_report pulled;
	struct rule rule;

	CHECK_INT(push_signed(remote, root, key).pushed_count, POOL);
	CHECK_INT(push_signed(remote, root, key).present_count, POOL);
	CHECK_INT(count_under(remote, SIGNED), 1);
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
	CHECK_INT(pull_from(strict, "pulled", &pulled), 0);
	CHECK_INT(pulled.emitted_count, POOL);
	CHECK_INT(pulled.untrusted_count + rule.refused + rule.warned, 0);
	check_is_part(text("%s/pulled", test_folder()),
	              (struct part){ 0, POOL });
}

TEST(signed_ref, has_its_signature_before_its_record)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_signed(remote, root, key);
	CHECK_INT(spy.events[spy.count - 3].op, SPY_PUT);
	CHECK_INT(spy.events[spy.count - 2].op, SPY_ADD);
	CHECK_INT(spy.events[spy.count - 1].op, SPY_ADD);
	CHECK_INT(count_under(remote, REF), 1);
}

TEST(unsigned_ref, is_refused_before_a_byte_of_it_is_fetched)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_pull_report pulled;
	struct rule rule;

	(void)push_all(remote, root);
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
	spy_reset();
	CHECK_INT(pull_from(strict, "pulled", &pulled), TKB_ERR_UNTRUSTED);
	CHECK_CONTAINS(ERR->message, "of ref '" REF "' is not trusted: no key "
	                             "of the policy has signed it");
	CHECK_INT(spy_count(SPY_GET), 0);
	CHECK_INT(rule.refused, 1);
	CHECK(!exists(text("%s/pulled", test_folder())));

	struct tkb_buf *buf = test_buf(TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(buf);
	FAILS(tkb_pull_bundle(strict, REF, NULL, &sink, NULL, ERR),
	      TKB_ERR_UNTRUSTED, "not trusted");
	CHECK_INT(buf->size + spy_count(SPY_GET), 0);
}

TEST(unsigned_ref, is_used_where_the_policy_says_so)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_pull_report pulled;
	struct rule rule;

	(void)push_all(remote, root);
	struct tkb_remote *lax =
		open_under("remote", &rule, key, TKB_UNSIGNED_WARN);
	CHECK_INT(pull_from(lax, "pulled", &pulled), 0);
	CHECK_INT(pulled.emitted_count, POOL);
	CHECK_INT(rule.warned, 1);
	lax = open_under("remote", &rule, key, TKB_UNSIGNED_ACCEPT);
	CHECK_INT(pull_from(lax, "again", &pulled), 0);
	CHECK_INT(rule.warned + rule.refused, 0);
}

TEST(ref, of_which_a_part_is_signed_gives_that_part)
{
	const char *one = cache_of("one", (struct part){ 0, 10 });
	const char *other = cache_of("other", (struct part){ 10, POOL });
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_pull_report pulled;
	struct rule rule;

	(void)push_signed(remote, one, key);
	(void)push_all(remote, other);
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
	CHECK_INT(pull_from(strict, "pulled", &pulled), TKB_ERR_UNTRUSTED);
	CHECK_INT(pulled.untrusted_count, 1);
	CHECK_INT(pulled.emitted_count, 10);
	check_is_part(text("%s/pulled", test_folder()), (struct part){ 0, 10 });
}

/* Else who writes the remote could keep signed kernels away. */
TEST(push, with_a_key_does_not_count_what_others_have_pushed)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_key *other = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_all(remote, root);
	CHECK_INT(push_signed(remote, root, key).pushed_count, POOL);
	CHECK_INT(push_signed(remote, root, key).pushed_count, 0);
	CHECK_INT(push_signed(remote, root, other).pushed_count, POOL);
	/* The same bundle: one record, and two signatures. */
	CHECK_INT(count_under(remote, REF), 1);
	CHECK_INT(count_under(remote, SIGNED), 2);
}

TEST(push, of_a_bundle_with_a_key_signs_it)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_key *const keys[] = { key };
	const struct tkb_signing signing = {
		SIZED(signing), .keys = (const struct tkb_key *const *)keys,
		.key_count = 1
	};
	const struct tkb_push_options options = { SIZED(options),
		                                  .signing = &signing };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_push_report report = { SIZED(report) };
	struct tkb_buf *buf = test_buf(64 * TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(buf);

	DONE(tkb_collect(root, NULL, &sink, NULL, ERR), false);
	struct tkb_bytes bytes = tkb_buf_bytes(buf);
	const struct tkb_source source = tkb_memory_source(&bytes);

	(void)push_bytes(remote, bytes);
	CHECK_INT(count_under(remote, SIGNED), 0);
	OK(tkb_push_bundle(remote, REF, &source, &options, &report, ERR));
	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(count_under(remote, REF), 1);
	CHECK_INT(count_under(remote, SIGNED), 1);
	OK(tkb_push_bundle(remote, REF, &source, &options, &report, ERR));
	CHECK_INT(report.present_count, POOL);
	CHECK_INT(count_under(remote, SIGNED), 1);
}

TEST(push, with_what_cannot_sign_pushes_nothing)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_signing signing = { SIZED(signing) };
	const struct tkb_push_options options = { SIZED(options),
		                                  .signing = &signing };
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	FAILS(tkb_push(remote, REF, root, &options, NULL, ERR), TKB_ERR_INVALID,
	      "1 to 16 keys");
	key->is_private = false;
	signing.keys = (const struct tkb_key *const *)&key;
	signing.key_count = 1;
	FAILS(tkb_push(remote, REF, root, &options, NULL, ERR), TKB_ERR_INVALID,
	      "public key cannot sign");
	CHECK_INT(count_under(remote, REF) + count_under(remote, SIGNED), 0);
}

TEST(signed_ref, has_no_bit_of_a_record_that_can_be_changed)
{
	const char *root = cache_of("one", (struct part){ 0, 1 });
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	TKB_AUTO(tkb_envelopes_release)
	struct tkb_envelopes envelopes = { .count = 0 };
	TKB_AUTO(tkb_record_release) struct tkb_record whole = { 0 };
	struct rule rule;
	struct tkb_trust trust;
	unsigned parsed = 0;
	unsigned moved = 0;

	(void)push_signed(remote, root, key);
	(void)open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
	OK(tkb_trust_read(&trust, &rule.trust, ERR));
	OK(tkb_envelopes_read(remote, REF, &envelopes, ERR));
	const struct tkb_case judged = { &trust, &envelopes, NULL, REF,
		                         1800000000 };
	const struct tkb_bytes kept = only_text(remote, REF);
	unsigned char *bytes = (unsigned char *)(uintptr_t)kept.data;

	OK(tkb_record_parse(kept, &whole, ERR));
	for (size_t bit = 0; bit < kept.size * 8; bit++) {
		struct tkb_record record = { 0 };
		struct tkb_opinion opinion;
		struct tkb_subject subject;

		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (tkb_record_parse(kept, &record, NULL) == 0) {
			record.text = kept;
			OK(tkb_record_subject(&record, &subject, ERR));
			OK(tkb_judge(&judged, &subject, &opinion, ERR));
			/* Where its bytes lie may change: those are pinned by
			   the bundle's id. */
			const bool is_place =
				record.size != whole.size ||
				!is_same_digest(&record.blob, &whole.blob) ||
				!is_same_digest(&record.frames, &whole.frames);
			CHECK_INT(opinion.judgement == TKB_TRUSTED, is_place);
			CHECK(!is_place ||
			      is_same_digest(&record.bundle, &whole.bundle));
			parsed++;
			moved += is_place;
		}
		tkb_record_release(&record);
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	CHECK(parsed > 200 && moved > 100 && parsed > moved);
}

/* Whoever writes the remote names another bundle's bytes in a signed record. */
TEST(signed_ref, gives_nothing_of_another_bundle)
{
	const char *one = cache_of("one", (struct part){ 0, 1 });
	const char *other = cache_of("other", (struct part){ 1, 2 });
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_remote *bad = open_spy(spy_url("bad"));
	TKB_AUTO(tkb_record_release) struct tkb_record good = { 0 };
	TKB_AUTO(tkb_record_release) struct tkb_record evil = { 0 };
	struct tkb_pull_report pulled;
	struct rule rule;

	(void)push_signed(remote, one, key);
	(void)push_all(bad, other);
	const struct tkb_bytes kept = only_text(remote, REF);
	const struct tkb_bytes evil_text = only_text(bad, REF);
	OK(tkb_record_parse(kept, &good, ERR));
	OK(tkb_record_parse(evil_text, &evil, ERR));

	/* The other's blob, size and frames, in the record that was signed. */
	struct tkb_buf *made = test_buf(TKB_MIB);
	const char *at = kept.data;
	const char *rest = memmem(at, kept.size, "],\"bundle\"", 10);
	const char *evil_rest =
		memmem(evil_text.data, evil_text.size, "],\"bundle\"", 10);
	const char *frames = memmem(at, kept.size, "\"frames\":\"", 10);
	const char *evil_frames =
		memmem(evil_text.data, evil_text.size, "\"frames\":\"", 10);
	CHECK(rest != NULL && evil_rest != NULL && frames != NULL &&
	      evil_frames != NULL);
	tkb_buf_add(made, (struct tkb_bytes){
				  evil_text.data,
				  (size_t)(evil_rest -
	                                   (const char *)evil_text.data) });
	tkb_buf_add(made, (struct tkb_bytes){ rest, (size_t)(frames - rest) });
	tkb_buf_add(made, (struct tkb_bytes){ evil_frames, 10 + 64 });
	tkb_buf_add(made,
	            (struct tkb_bytes){ frames + 74, (size_t)(at + kept.size -
	                                                      frames - 74) });

	/* It stands alone in a remote that has all blobs, and the signature. */
	struct tkb_remote *forged = open_spy(spy_url("bad"));
	OK(tkb_ref_delete(forged, REF, NULL, ERR));
	OK(tkb_remote_add(forged, REF, tkb_buf_bytes(made), ERR));
	OK(tkb_remote_add(forged, SIGNED, only_text(remote, SIGNED), ERR));
	struct tkb_remote *strict =
		open_under("bad", &rule, key, TKB_UNSIGNED_REFUSE);
	CHECK_INT(pull_from(strict, "pulled", &pulled), TKB_ERR_CORRUPT);
	CHECK_INT(rule.refused, 0);
	CHECK_INT(pulled.emitted_count, 0);
	CHECK_INT(count_entries(text("%s/pulled", test_folder())), 0);
}

TEST(signed_ref, is_none_where_the_signature_is_of_another_ref)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_pull_report pulled;
	struct rule rule;

	(void)push_signed(remote, root, key);
	const struct tkb_bytes record = only_text(remote, REF);
	const struct tkb_bytes envelope = only_text(remote, SIGNED);
	OK(tkb_remote_add(remote, "team/other", record, ERR));
	OK(tkb_remote_add(remote, "@signed/team/other", envelope, ERR));
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_ACCEPT);
	rule.trust.on_untrusted = NULL;
	pulled = (struct tkb_pull_report){ SIZED(pulled) };
	FAILS(tkb_pull(strict, "team/other", text("%s/pulled", test_folder()),
	               NULL, &pulled, ERR),
	      TKB_ERR_UNTRUSTED, "has signed it for ref '" REF "'");
}

TEST(gc, drops_signatures_of_records_that_are_gone_and_no_others)
{
	const char *one = cache_of("one", (struct part){ 0, 8 });
	const char *other = cache_of("other", (struct part){ 8, POOL });
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_remote_gc_options options = { SIZED(options),
		                                 .has_grace = true };
	struct tkb_remote_gc_report report = { SIZED(report) };
	struct tkb_pull_report pulled;
	struct rule rule;

	(void)push_signed(remote, one, key);
	const char *old = text("%s", record_files("remote")[0]);
	(void)push_signed(remote, other, key);
	CHECK_INT(count_under(remote, SIGNED), 2);
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.envelope_count, 0);
	CHECK_INT(report.ref_count, 1);
	CHECK_INT(count_under(remote, SIGNED), 2);

	SYS(unlink(old));
	options.is_dry_run = true;
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.envelope_count, 1);
	CHECK_INT(count_under(remote, SIGNED), 2);
	options.is_dry_run = false;
	options.grace_s = DAY_S;
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.envelope_count, 0);
	options.grace_s = 0;
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.envelope_count, 1);
	CHECK_INT(count_under(remote, SIGNED), 1);
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
	CHECK_INT(pull_from(strict, "pulled", &pulled), 0);
	CHECK_INT(pulled.emitted_count, POOL - 8);

	/* Of a ref without records, all. */
	SYS(unlink(record_files("remote")[0]));
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.envelope_count, 1);
	CHECK_INT(count_under(remote, SIGNED), 0);
}

TEST(refs, delete_takes_signatures_along)
{
	const char *root = pool();
	struct tkb_key *key = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_signed(remote, root, key);
	OK(tkb_ref_delete(remote, REF, NULL, ERR));
	CHECK_INT(count_under(remote, SIGNED), 0);
}

static void push_signed_singly(struct tkb_remote *remote, size_t count,
                               const struct tkb_key *key)
{
	const struct tkb_key *const keys[] = { key };
	const struct tkb_signing signing = { SIZED(signing), .keys = keys,
		                             .key_count = 1 };
	const struct tkb_push_options options = { SIZED(options),
		                                  .signing = &signing,
		                                  .is_compaction_off = true };

	for (size_t i = 0; i < count; i++)
		(void)push_with(remote,
		                cache_of(text("%zu-of-%zu", i, count),
		                         (struct part){ i, i + 1 }),
		                options);
}

static void compact(struct tkb_remote *remote, const struct tkb_signer *signer,
                    uint64_t *count)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { .count = 0 };

	*count = 0;
	OK(tkb_record_list_read(remote, REF, false, &records, ERR));
	OK(tkb_compact(remote, REF, &records, signer, count, ERR));
}

/* By a policy that wants both, the merge of one would be worth nothing. */
TEST(compaction, leaves_what_somebody_else_has_signed_too)
{
	struct tkb_key *key = make_key();
	struct tkb_key *other = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct signer_of second;
	const struct tkb_sign_options both = {
		SIZED(both), .signing = signing_with(&second, other)
	};
	struct signer_of first;
	struct tkb_signer signer = { .now_s = 0 };
	uint64_t count;

	push_signed_singly(remote, 2, key);
	OK(tkb_ref_sign(remote, REF, &both, NULL, ERR));
	push_signed_singly(remote, 4, key);
	OK(tkb_signer_begin(&signer, signing_with(&first, key), remote, REF,
	                    ERR));
	compact(remote, &signer, &count);
	tkb_signer_release(&signer);
	CHECK_INT(count, 2);
	CHECK_INT(count_under(remote, REF), 3);
}

TEST(compaction, never_makes_unsigned_what_was_signed)
{
	struct tkb_key *key = make_key();
	struct tkb_key *other = make_key();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_pull_report pulled;
	struct rule rule;
	uint64_t count;

	push_signed_singly(remote, 3, key);
	compact(remote, NULL, &count);
	CHECK_INT(count, 0);

	/* Another's key merges only what it has signed itself. */
	const struct tkb_key *const others[] = { other };
	const struct tkb_signing foreign = { SIZED(foreign), .keys = others,
		                             .key_count = 1 };
	struct tkb_signer stranger = { .now_s = 0 };
	OK(tkb_signer_begin(&stranger, &foreign, remote, REF, ERR));
	compact(remote, &stranger, &count);
	CHECK_INT(count, 0);
	tkb_signer_release(&stranger);

	const struct tkb_key *const keys[] = { key };
	const struct tkb_signing own = { SIZED(own), .keys = keys,
		                         .key_count = 1 };
	struct tkb_signer signer = { .now_s = 0 };
	OK(tkb_signer_begin(&signer, &own, remote, REF, ERR));
	compact(remote, &signer, &count);
	CHECK_INT(count, 3);
	tkb_signer_release(&signer);
	CHECK_INT(count_under(remote, REF), 1);
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
	CHECK_INT(pull_from(strict, "pulled", &pulled), 0);
	CHECK_INT(pulled.emitted_count, 3);
}
