/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "fleet/compact.h"
#include "forge.h"
#include "records/records.h"
#include "trust/judge.h"

/* Signed refs: what is pushed with keys, and pulled under a policy. */

/* A remote, and the key of its policies. */
static struct tkb_remote *remote;
static struct tkb_key *key;
static struct rule rule;

static void begin(void)
{
	remote = open_spy(spy_url("remote"));
	key = make_key();
}

/* The remote under a policy of the key. */
static struct tkb_remote *open_strict(void)
{
	return open_under("remote", &rule, key, TKB_UNSIGNED_REFUSE);
}

TEST(signed_ref, is_pulled_under_a_policy_of_its_key)
{
	const char *root = pool();

	begin();
	CHECK_INT(push_signed(remote, root, key).pushed_count, POOL);
	CHECK_INT(push_signed(remote, root, key).present_count, POOL);
	CHECK_INT(count_under(remote, SIGNED), 1);
	CHECK_INT(pull_from(open_strict(), "pulled"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
	CHECK_INT(pulled.untrusted_count + rule.refused + rule.warned, 0);
	check_is_part(text("%s/pulled", test_folder()),
	              (struct part){ 0, POOL });
}

TEST(signed_ref, has_its_signature_before_its_record)
{
	const char *root = pool();

	begin();
	(void)push_signed(remote, root, key);
	CHECK_INT(spy.events[spy.count - 3].op, SPY_PUT);
	CHECK_INT(spy.events[spy.count - 2].op, SPY_ADD);
	CHECK_INT(spy.events[spy.count - 1].op, SPY_ADD);
	CHECK_INT(count_under(remote, REF), 1);
}

TEST(unsigned_ref, is_refused_before_a_byte_of_it_is_fetched)
{
	const char *root = pool();

	begin();
	(void)push_all(remote, root);
	struct tkb_remote *strict = open_strict();
	spy_reset();
	FAILS(pull_from(strict, "pulled"), TKB_ERR_UNTRUSTED,
	      "of ref '" REF "' is not trusted: no key "
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

	begin();
	(void)push_all(remote, root);
	struct tkb_remote *lax =
		open_under("remote", &rule, key, TKB_UNSIGNED_WARN);
	CHECK_INT(pull_from(lax, "pulled"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
	CHECK_INT(rule.warned, 1);
	lax = open_under("remote", &rule, key, TKB_UNSIGNED_ACCEPT);
	CHECK_INT(pull_from(lax, "again"), 0);
	CHECK_INT(rule.warned + rule.refused, 0);
}

TEST(ref, of_which_a_part_is_signed_gives_that_part)
{
	const char *one = cache_of("one", (struct part){ 0, 10 });
	const char *other = cache_of("other", (struct part){ 10, POOL });

	begin();
	(void)push_signed(remote, one, key);
	(void)push_all(remote, other);
	CHECK_INT(pull_from(open_strict(), "pulled"), TKB_ERR_UNTRUSTED);
	CHECK_INT(pulled.untrusted_count, 1);
	CHECK_INT(pulled.emitted_count, 10);
	check_is_part(text("%s/pulled", test_folder()), (struct part){ 0, 10 });
}

/* Else who writes the remote could keep signed kernels away. */
TEST(push, with_a_key_does_not_count_what_others_have_pushed)
{
	const char *root = pool();
	struct tkb_key *other = make_key();

	begin();
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
	struct tkb_push_options options = DEFAULTS(tkb_push_options);
	struct tkb_push_report report = { SIZED(report) };
	struct tkb_buf *buf = test_buf(64 * TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(buf);

	begin();
	options.signing = signing_with(key);
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
	struct tkb_signing signing = { SIZED(signing) };
	const struct tkb_push_options options = { SIZED(options),
		                                  .signing = &signing };

	begin();
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
	TKB_AUTO(tkb_envelopes_release)
	struct tkb_envelopes envelopes = { .count = 0 };
	TKB_AUTO(tkb_record_release) struct tkb_record whole = { 0 };
	struct tkb_trust trust;
	unsigned parsed = 0;
	unsigned moved = 0;

	begin();
	(void)push_signed(remote, root, key);
	(void)open_strict();
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

/* The only record of REF, and its digest of frames. */
static const char *text_under(struct tkb_remote *where)
{
	const struct tkb_bytes bytes = only_text(where, REF);

	return text("%.*s", (int)bytes.size, (const char *)bytes.data);
}

static const char *frames_of(const char *record)
{
	return text("%.74s", strstr(record, "\"frames\":\""));
}

/* Whoever writes the remote names another bundle's bytes in a signed record. */
TEST(signed_ref, gives_nothing_of_another_bundle)
{
	const char *one = cache_of("one", (struct part){ 0, 1 });
	const char *other = cache_of("other", (struct part){ 1, 2 });
	struct tkb_remote *bad = open_spy(spy_url("bad"));

	begin();
	(void)push_signed(remote, one, key);
	(void)push_all(bad, other);
	/* The other's blob, size and frames, in the record that was signed. */
	static const char end[] = "],\"bundle\"";
	const char *kept = text_under(remote);
	const char *evil = text_under(bad);
	const char *made = text("%.*s%s", (int)(strstr(evil, end) - evil), evil,
	                        strstr(kept, end));
	made = forge_replace(made, frames_of(kept), frames_of(evil));

	/* It stands alone in a remote that has all blobs, and the signature. */
	struct tkb_remote *forged = open_spy(spy_url("bad"));
	OK(tkb_ref_delete(forged, REF, NULL, ERR));
	OK(tkb_remote_add(forged, REF, tkb_text(made), ERR));
	OK(tkb_remote_add(forged, SIGNED, only_text(remote, SIGNED), ERR));
	struct tkb_remote *strict =
		open_under("bad", &rule, key, TKB_UNSIGNED_REFUSE);
	CHECK_INT(pull_from(strict, "pulled"), TKB_ERR_CORRUPT);
	CHECK_INT(rule.refused, 0);
	CHECK_INT(pulled.emitted_count, 0);
	CHECK_INT(count_entries(text("%s/pulled", test_folder())), 0);
}

TEST(signed_ref, is_none_where_the_signature_is_of_another_ref)
{
	const char *root = pool();

	begin();
	(void)push_signed(remote, root, key);
	const struct tkb_bytes record = only_text(remote, REF);
	const struct tkb_bytes envelope = only_text(remote, SIGNED);
	OK(tkb_remote_add(remote, "team/other", record, ERR));
	OK(tkb_remote_add(remote, "@signed/team/other", envelope, ERR));
	struct tkb_remote *strict =
		open_under("remote", &rule, key, TKB_UNSIGNED_ACCEPT);
	rule.trust.on_untrusted = NULL;
	FAILS(pull_ref(strict, "team/other", "pulled"), TKB_ERR_UNTRUSTED,
	      "has signed it for ref '" REF "'");
}

TEST(gc, drops_signatures_of_records_that_are_gone_and_no_others)
{
	const char *one = cache_of("one", (struct part){ 0, 8 });
	const char *other = cache_of("other", (struct part){ 8, POOL });
	struct tkb_remote_gc_options options = { SIZED(options),
		                                 .has_grace = true };
	struct tkb_remote_gc_report report = { SIZED(report) };

	begin();
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
	CHECK_INT(pull_from(open_strict(), "pulled"), 0);
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

	begin();
	(void)push_signed(remote, root, key);
	OK(tkb_ref_delete(remote, REF, NULL, ERR));
	CHECK_INT(count_under(remote, SIGNED), 0);
}

static void push_signed_singly(size_t count)
{
	const struct tkb_push_options options =
		CHOSEN(tkb_push_options, .signing = signing_with(key),
	               .is_compaction_off = true);

	for (size_t i = 0; i < count; i++)
		(void)push_with(remote,
		                cache_of(text("%zu-of-%zu", i, count),
		                         (struct part){ i, i + 1 }),
		                options);
}

/* How many records does that compact, if `by` may sign? NULL: nobody signs. */
static uint64_t compact(const struct tkb_key *by)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { .count = 0 };
	struct tkb_signer signer = { .now_s = 0 };
	uint64_t count = 0;

	OK(tkb_record_list_read(remote, REF, false, &records, ERR));
	if (by != NULL)
		OK(tkb_signer_begin(&signer, signing_with(by), remote, REF,
		                    ERR));
	OK(tkb_compact(remote, REF, &records, by == NULL ? NULL : &signer,
	               &count, ERR));
	if (by != NULL)
		tkb_signer_release(&signer);
	return count;
}

/* By a policy that wants both, the merge of one would be worth nothing. */
TEST(compaction, leaves_what_somebody_else_has_signed_too)
{
	const struct tkb_sign_options both =
		sign_with(make_key(), TKB_TRUST_STAGE_DEV);

	begin();
	push_signed_singly(2);
	OK(tkb_ref_sign(remote, REF, &both, NULL, ERR));
	push_signed_singly(4);
	CHECK_INT(compact(key), 2);
	CHECK_INT(count_under(remote, REF), 3);
}

TEST(compaction, never_makes_unsigned_what_was_signed)
{
	begin();
	push_signed_singly(3);
	CHECK_INT(compact(NULL), 0);
	/* Another's key merges only what it has signed itself. */
	CHECK_INT(compact(make_key()), 0);
	CHECK_INT(compact(key), 3);
	CHECK_INT(count_under(remote, REF), 1);
	CHECK_INT(pull_from(open_strict(), "pulled"), 0);
	CHECK_INT(pulled.emitted_count, 3);
}
