/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/judge.h"

#include "forge.h"
#include "trust/date.h"

/* Whose signatures count, and that nothing of them can be changed. */

#define NOW UINT64_C(1800000000)

static const char *const models[] = { "model/*" };
static const char *const products[] = { "prod/*" };

static struct tkb_subject subject(const char *name)
{
	return (struct tkb_subject){
		.bundle = digest_of(tkb_text(name)),
		.content = digest_of(tkb_text(text("%s again", name))),
	};
}

static const char *targets[] = { "cuda:90" };

static struct tkb_statement statement_of(const char *ref)
{
	return (struct tkb_statement){
		.ref = ref,
		.subject = subject("a record"),
		.sequence = 7,
		.expires_s = NOW + 1000,
		.targets = targets,
		.target_count = 1,
	};
}

/* The text of an envelope by `count` keys. */
static struct tkb_bytes sign(const struct tkb_statement *statement,
                             const struct tkb_key *const *keys, size_t count)
{
	struct tkb_buf *buf = test_buf(TKB_MIB);

	OK(tkb_envelope_make(statement, keys, count, buf, ERR));
	return tkb_buf_bytes(buf);
}

/* A policy of keys "ci" and "release", and envelopes that lie under a ref. */
struct scene {
	struct tkb_key *ci;
	struct tkb_key *release;
	struct tkb_trust_key keys[2];
	struct tkb_trust trust;
	struct tkb_envelopes envelopes;
	size_t whole; /* bytes of the envelope that is damaged */
	char words[TKB_JUDGE_WORDS];
};

static void clear(void *self)
{
	struct scene *scene = self;

	tkb_envelopes_release(&scene->envelopes);
}

static struct scene *arrange(enum tkb_key_kind kind)
{
	struct scene *scene = test_alloc(sizeof(*scene));

	*scene = (struct scene){ .ci = test_key(kind),
		                 .release = test_key(kind) };
	at_end(clear, scene);
	scene->keys[0] = (struct tkb_trust_key){ .key = scene->ci,
		                                 .name = "ci",
		                                 .publish = models,
		                                 .publish_count = 1 };
	scene->keys[1] = (struct tkb_trust_key){ .key = scene->release,
		                                 .name = "release",
		                                 .publish = models,
		                                 .publish_count = 1,
		                                 .promote = products,
		                                 .promote_count = 1 };
	OK(tkb_trust_read(
		&scene->trust,
		&CHOSEN(tkb_trust, .keys = scene->keys, .key_count = 2), ERR));
	return scene;
}

/* It lies under the ref; false if it is no envelope. */
static bool lay(struct scene *scene, struct tkb_bytes envelope)
{
	struct tkb_envelope read = { .is_known = false };
	const int rc = tkb_envelope_read(envelope, &scene->envelopes.arena,
	                                 &read, NULL);

	OK(tkb_append(&scene->envelopes.items, &scene->envelopes.count,
	              &scene->envelopes.capacity, &read, sizeof(read), ERR));
	return rc == 0;
}

static enum tkb_judgement judge_of(struct scene *scene, const char *ref,
                                   const char *record)
{
	const struct tkb_case judged = { &scene->trust, &scene->envelopes, NULL,
		                         ref, NOW };
	const struct tkb_subject asked = subject(record);
	struct tkb_opinion opinion;

	OK(tkb_judge(&judged, &asked, &opinion, ERR));
	memcpy(scene->words, opinion.words, sizeof(opinion.words));
	return opinion.judgement;
}

static enum tkb_judgement judge(struct scene *scene, const char *ref)
{
	return judge_of(scene, ref, "a record");
}

#define CI(scene) ((const struct tkb_key *const[]){ (scene)->ci })
#define RELEASE(scene) ((const struct tkb_key *const[]){ (scene)->release })

TEST(judge, trusts_what_a_key_may_publish_and_has_signed)
{
	for (enum tkb_key_kind kind = 0; kind <= TKB_KEY_KIND_P256; kind++) {
		struct scene *scene = arrange(kind);
		const struct tkb_statement made = statement_of("model/a");

		CHECK_INT(judge(scene, "model/a"), TKB_UNSIGNED);
		CHECK_CONTAINS(scene->words, "no key of the policy");
		CHECK(lay(scene, sign(&made, CI(scene), 1)));
		CHECK_INT(judge(scene, "model/a"), TKB_TRUSTED);
		CHECK_INT(judge_of(scene, "model/a", "another"), TKB_UNSIGNED);
	}
}

/* Cut short, it is not even one. */
static bool is_trusted(void *self, struct tkb_bytes envelope)
{
	struct scene *scene = self;
	const bool is_read = lay(scene, envelope);
	const bool is_trusted = judge(scene, "model/a") == TKB_TRUSTED;

	clear(scene);
	return is_trusted || (is_read && envelope.size < scene->whole);
}

TEST(judge, trusts_no_envelope_with_a_flipped_bit)
{
	for (enum tkb_key_kind kind = 0; kind <= TKB_KEY_KIND_P256; kind++) {
		struct scene *scene = arrange(kind);
		const struct tkb_statement made = statement_of("model/a");
		const struct tkb_bytes whole = sign(&made, CI(scene), 1);

		scene->whole = whole.size;
		check_damaged(whole, is_trusted, scene);
	}
}

/* A statement that somebody signed for something else. */
TEST(judge, trusts_no_signature_of_another_statement)
{
	static const struct {
		const char *ref;
		const char *asked;
		enum tkb_trust_stage stage;
		uint64_t expires_s;
		const char *part;
	} cases[] = {
		{ "model/b", "model/a", 0, NOW + 1, "for ref 'model/b'" },
		{ "model/a", "prod/a", TKB_TRUST_STAGE_PROD, NOW + 1,
		  "for ref" },
		{ "model/a", "model/a", TKB_TRUST_STAGE_PROD, NOW + 1,
		  "for stage 'prod', and this ref wants 'dev'" },
		{ "prod/a", "prod/a", TKB_TRUST_STAGE_DEV, NOW + 1,
		  "for stage 'dev', and this ref wants 'prod'" },
		{ "prod/a", "prod/a", TKB_TRUST_STAGE_PROD, NOW + 1,
		  "may not promote to this ref" },
		{ "other/a", "other/a", 0, NOW + 1, "may not publish" },
		{ "model/a", "model/a", 0, NOW,
		  "ended at 2027-01-15T08:00:00Z" },
		{ "model/a", "model/a", 0, 0, "ended at 1970" },
	};

	EACH(i, cases) {
		struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
		struct tkb_statement made = statement_of(cases[i].ref);

		made.stage = cases[i].stage;
		made.expires_s = cases[i].expires_s;
		CHECK(lay(scene, sign(&made, CI(scene), 1)));
		CHECK_INT(judge(scene, cases[i].asked), TKB_REFUSED);
		CHECK_CONTAINS(scene->words, cases[i].part);
	}
}

TEST(judge, trusts_for_production_who_may_promote)
{
	struct scene *scene = arrange(TKB_KEY_KIND_P256);
	struct tkb_statement made = statement_of("prod/a");

	made.stage = TKB_TRUST_STAGE_PROD;
	CHECK(lay(scene, sign(&made, RELEASE(scene), 1)));
	CHECK_INT(judge(scene, "prod/a"), TKB_TRUSTED);
}

TEST(judge, takes_a_key_no_longer_than_the_policy_says)
{
	struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
	const struct tkb_statement made = statement_of("model/a");

	CHECK(lay(scene, sign(&made, CI(scene), 1)));
	scene->keys[0].not_after_s = NOW;
	CHECK_INT(judge(scene, "model/a"), TKB_TRUSTED);
	scene->keys[0].not_after_s = NOW - 1;
	CHECK_INT(judge(scene, "model/a"), TKB_REFUSED);
	CHECK_CONTAINS(scene->words, "counted only until 2027-01-15T07:59:59Z");
}

TEST(judge, counts_keys_and_not_signatures)
{
	struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
	const struct tkb_statement made = statement_of("model/a");
	struct tkb_statement later = made;
	const struct tkb_key *const both[] = { scene->ci, scene->release };
	const struct tkb_key *const twice[] = { scene->ci, scene->ci };

	later.sequence++;
	scene->trust.threshold = 2;
	CHECK(lay(scene, sign(&made, twice, 2)));
	CHECK(lay(scene, sign(&later, CI(scene), 1)));
	CHECK_INT(judge(scene, "model/a"), TKB_REFUSED);
	CHECK_CONTAINS(scene->words, "1 of 2 keys");
	/* The other one, in an envelope of its own. */
	CHECK(lay(scene, sign(&later, RELEASE(scene), 1)));
	CHECK_INT(judge(scene, "model/a"), TKB_TRUSTED);
	clear(scene);
	/* Both in one. */
	CHECK(lay(scene, sign(&made, both, 2)));
	CHECK_INT(judge(scene, "model/a"), TKB_TRUSTED);
}

TEST(judge, takes_no_policy_that_names_one_key_twice)
{
	struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
	struct tkb_trust_key keys[] = { scene->keys[0], scene->keys[0] };
	const struct tkb_trust given = { SIZED(given), .keys = keys,
		                         .key_count = 2, .threshold = 2 };
	struct tkb_trust out;

	keys[1].name = "again";

	FAILS(tkb_trust_read(&out, &given, ERR), TKB_ERR_INVALID,
	      "'ci' and 'again' of the policy are the same key");
}

/* Whoever writes the remote can put signatures of his own there. */
TEST(judge, is_not_hindered_by_what_lies_beside_a_good_signature)
{
	struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
	struct tkb_key *stranger = test_key(TKB_KEY_KIND_ED25519);
	const struct tkb_key *const strangers[] = { stranger };
	const struct tkb_statement made = statement_of("model/a");
	struct tkb_statement old = made;

	CHECK(lay(scene, sign(&made, strangers, 1)));
	CHECK_INT(judge(scene, "model/a"), TKB_UNSIGNED);
	CHECK(!lay(scene, tkb_text("{}")));
	old.expires_s = 1;
	CHECK(lay(scene, sign(&old, CI(scene), 1)));
	CHECK_INT(judge(scene, "model/a"), TKB_REFUSED);
	CHECK(lay(scene, sign(&made, CI(scene), 1)));
	CHECK_INT(judge(scene, "model/a"), TKB_TRUSTED);
}

/* The signature of one key under the name of another. */
TEST(judge, trusts_no_signature_under_the_name_of_another_key)
{
	struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
	const struct tkb_statement made = statement_of("model/a");
	struct tkb_envelope envelope;
	const struct tkb_key *const both[] = { scene->ci, scene->release };

	CHECK(lay(scene, sign(&made, both, 2)));
	envelope = scene->envelopes.items[0];
	const struct tkb_bytes first = envelope.signatures[0].bytes;
	envelope.signatures[0].bytes = envelope.signatures[1].bytes;
	envelope.signatures[1].bytes = first;
	CHECK_INT(judge(scene, "model/a"), TKB_REFUSED);
	CHECK_CONTAINS(scene->words, "is not by it");
}

TEST(policy, tells_what_a_key_may_sign)
{
	const struct scene *scene = arrange(TKB_KEY_KIND_ED25519);
	const struct tkb_trust *trust = &scene->trust;
	const struct tkb_digest stranger = digest_of(tkb_text("no key"));
	const struct tkb_trust_key *ci =
		tkb_trust_find_key(trust, &scene->ci->id);
	const struct tkb_trust_key *release =
		tkb_trust_find_key(trust, &scene->release->id);

	CHECK_STR(ci->name, "ci");
	CHECK_STR(release->name, "release");
	CHECK(tkb_trust_find_key(trust, &stranger) == NULL);
	CHECK_INT(tkb_trust_stage_of(trust, "model/a"), TKB_TRUST_STAGE_DEV);
	CHECK_INT(tkb_trust_stage_of(trust, "prod/a"), TKB_TRUST_STAGE_PROD);
	CHECK(tkb_trust_may_sign(ci, TKB_TRUST_STAGE_DEV, "model/a"));
	CHECK(!tkb_trust_may_sign(ci, TKB_TRUST_STAGE_DEV, "prod/a"));
	CHECK(!tkb_trust_may_sign(ci, TKB_TRUST_STAGE_PROD, "prod/a"));
	CHECK(tkb_trust_may_sign(release, TKB_TRUST_STAGE_PROD, "prod/a"));
	CHECK(!tkb_trust_may_sign(release, TKB_TRUST_STAGE_PROD, "model/a"));
}

TEST(policy, that_makes_no_sense_is_refused)
{
	const struct tkb_trust none = { .struct_size = 0 };
	const struct tkb_trust unknown = { SIZED(unknown),
		                           .unsigned_records =
		                                   (enum tkb_unsigned)3 };
	const struct tkb_trust many = { SIZED(many), .key_count = 65 };
	struct tkb_trust own;

	FAILS(tkb_trust_read(&own, &none, ERR), TKB_ERR_INVALID, "tkb_trust");
	FAILS(tkb_trust_read(&own, &unknown, ERR), TKB_ERR_INVALID,
	      "unknown rule");
	FAILS(tkb_trust_read(&own, &many, ERR), TKB_ERR_INVALID, "64 keys");
}

TEST(statement, is_read_as_it_is_written_by_others_too)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_statement made = statement_of("model/a");
	struct tkb_statement read;
	struct tkb_buf *buf = test_buf(TKB_MIB);

	OK(tkb_statement_write(&made, buf, ERR));
	tkb_buf_add_text(buf, " \n");
	OK(tkb_statement_read(tkb_buf_bytes(buf), &arena, &read, ERR));
	CHECK_STR(read.ref, "model/a");
	CHECK_INT(read.sequence, 7);
	CHECK_INT(read.expires_s, NOW + 1000);
	CHECK_INT(read.target_count, 1);
	CHECK(is_same_digest(&read.subject.content, &made.subject.content));
}

TEST(statement, with_what_is_not_known_is_refused)
{
	static const struct {
		const char *from;
		const char *to;
		const char *part;
	} cases[] = {
		{ "Statement/v1", "Statement/v2", "not an in-toto Statement" },
		{ "record/v1", "record/v2", "not about a record" },
		{ "\"stage\":\"dev\"", "\"stage\":\"xyz\"", "a stage" },
		{ "\"sequence\":7", "\"sequences\":7", "not known" },
		{ "\"sequence\":7", "\"sequence\":7,\"sequence\":8", "twice" },
		{ "40Z\"", "40X\"", "a time" },
		{ "model/a", "model/ ", "not the name of a ref" },
	};
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_statement made = statement_of("model/a");
	struct tkb_buf *buf = test_buf(TKB_MIB);
	struct tkb_statement read;

	OK(tkb_statement_write(&made, buf, ERR));
	const char *whole =
		text("%.*s", (int)buf->size, (const char *)buf->data);
	EACH(i, cases)
		FAILS(tkb_statement_read(
			      tkb_text(forge_replace(whole, cases[i].from,
		                                     cases[i].to)),
			      &arena, &read, ERR),
		      TKB_ERR_CORRUPT, cases[i].part);
}

TEST(date, has_one_way_to_write_it)
{
	static const char *const bad[] = {
		"",
		"2027",
		"2027-02-30T00:00:00Z",
		"2027-02-21T24:00:00Z",
		"2027-2-21T00:00:00Z",
		"2027-02-21T00:00:00z",
		"2027-02-21 00:00:00Z",
		"2027-02-21T00:00:00Z ",
		" 2027-02-21T00:00:00Z",
		"2027-02-21T00:00:60Z",
		"1960-02-21T00:00:00Z",
	};
	char made[TKB_TIME_TEXT_SIZE];
	uint64_t seconds;

	EACH(i, bad)
		CHECK(!tkb_date_parse(bad[i], &seconds));
	CHECK(tkb_date_parse("2028-02-29T23:59:59Z", &seconds));
	tkb_time_text(seconds, made);
	CHECK_STR(made, "2028-02-29T23:59:59Z");
	tkb_time_text(UINT64_MAX, made);
	CHECK_STR(made, "9999-12-31T23:59:59Z");
}
