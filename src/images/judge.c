/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/image.h>

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/struct.h"
#include "images/statement.h"
#include "remote/remote.h"
#include "trust/date.h"
#include "trust/judge.h"
#include "trust/memory.h"
#include "trust/revocations.h"
#include "trust/sigstore.h"

/*
 * Judge an image as records are judged: signatures by keys of the policy become
 * envelopes of a record whose bundle is the image's manifest.
 */

enum {
	SIGNATURES_LIMIT = 64, /* of an image; further ones are ignored */
	TAG_SIZE = 129
};

struct judging {
	struct tkb_trust trust;
	const struct tkb_image_question *question;
	struct tkb_envelopes envelopes;
	const char *tags[SIGNATURES_LIMIT]; /* of each envelope: the tag it
	                                       was signed for */
	struct tkb_revocations revoked;
};

static void judging_end(struct judging *judging)
{
	tkb_envelopes_release(&judging->envelopes);
	tkb_revocations_release(&judging->revoked);
}

/* The byte that "_xx" stands for; -1 if no push would write it so. */
static int escaped_byte(const char *at)
{
	static const char digits[] = "0123456789abcdef";
	const int high = at[0] == '_' ? tkb_hex_value(at[1]) : -1;
	const int low = high < 0 ? -1 : tkb_hex_value(at[2]);

	return low >= 0 && at[1] == digits[high] && at[2] == digits[low]
	               ? high * 16 + low
	               : -1;
}

/*
 * The ref that a tag stands for: "model/a_b" for "model__a_5fb". A tag that no
 * push would make is left unchanged.
 */
static void ref_of_tag(const char *tag, char ref[TAG_SIZE])
{
	size_t length = 0;

	for (const char *at = tag; *at != '\0'; at++) {
		const int escaped = escaped_byte(at);
		char byte = *at;

		if (at[0] == '_' && at[1] == '_') {
			byte = '/';
			at++;
		} else if (escaped >= 0) {
			byte = (char)escaped;
			at += 2;
		}
		if (length + 1 < TAG_SIZE)
			ref[length++] = byte;
	}
	ref[length] = '\0';
}

/* The tag in "host:5000/repository:tag"; NULL if missing or too long. */
static const char *tag_of_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *colon = strrchr(slash != NULL ? slash : name, ':');

	return colon == NULL || colon[1] == '\0' ||
	                       strlen(colon + 1) >= TAG_SIZE
	               ? NULL
	               : colon + 1;
}

/* Insert the envelope: as in those of a ref, the newest comes first. */
static int add_envelope(struct judging *judging,
                        const struct tkb_envelope *envelope,
                        struct tkb_error *err)
{
	struct tkb_envelopes *all = &judging->envelopes;
	const uint64_t sequence = envelope->statement.sequence;
	const char *tag = tag_of_name(envelope->statement.ref);
	size_t at = all->count;
	int rc;

	if (tag == NULL || at == SIGNATURES_LIMIT)
		return 0;
	rc = tkb_grow(&all->items, &all->capacity, at, sizeof(*envelope), err);
	if (rc < 0)
		return rc;
	for (; at > 0 && all->items[at - 1].statement.sequence < sequence;
	     at--) {
		all->items[at] = all->items[at - 1];
		judging->tags[at] = judging->tags[at - 1];
	}
	all->items[at] = *envelope;
	judging->tags[at] = tag;
	all->count++;
	return 0;
}

/* Add the signature if the key made it for this image; otherwise ignore it. */
static int take_signature(struct judging *judging, const struct tkb_key *key,
                          struct tkb_bytes bundle, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_SIGSTORE_LIMIT);
	struct tkb_arena *arena = &judging->envelopes.arena;
	const struct tkb_digest *manifest = judging->question->manifest;
	struct tkb_in_toto statement = { .subject_count = 0 };
	struct tkb_envelope envelope = { .is_known = false };
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_sigstore_read(bundle, key, &text, &fault);
	if (rc == 0)
		rc = tkb_envelope_open(tkb_buf_bytes(&text), arena, &envelope,
		                       &fault);
	if (rc == 0)
		rc = tkb_image_statement_read(envelope.payload, arena,
		                              &statement, &fault);
	if (rc == TKB_ERR_CORRUPT || rc == TKB_ERR_UNTRUSTED)
		return 0;
	if (rc < 0)
		return tkb_fail_as(err, rc, &fault);
	if (statement.subject_count == 0 ||
	    !tkb_digest_equal(&statement.subjects[0].digest, manifest))
		return 0;
	envelope.is_known = true;
	envelope.statement = (struct tkb_statement){
		.ref = statement.subjects[0].name,
		.subject = { *manifest, *manifest },
		.sequence = statement.sequence,
		.expires_s = statement.expires_s,
	};
	return add_envelope(judging, &envelope, err);
}

static int take_signatures(struct judging *judging, struct tkb_error *err)
{
	const struct tkb_image_question *question = judging->question;
	int rc = 0;

	for (size_t i = 0; i < question->signature_count && rc == 0; i++) {
		for (size_t k = 0; k < judging->trust.key_count && rc == 0; k++)
			rc = take_signature(judging, judging->trust.keys[k].key,
			                    question->signatures[i], err);
	}
	return rc;
}

/* Judge the image under this tag. Signatures for other tags do not count. */
static int judge_as(struct judging *judging, const char *tag,
                    char ref[TAG_SIZE], struct tkb_opinion *out,
                    struct tkb_error *err)
{
	const struct tkb_subject subject = { *judging->question->manifest,
		                             *judging->question->manifest };
	const struct tkb_case asked = { .trust = &judging->trust,
		                        .envelopes = &judging->envelopes,
		                        .revoked =
		                                &judging->revoked.all.digests,
		                        .ref = ref,
		                        .now_s = tkb_time_now() };

	ref_of_tag(tag, ref);
	for (size_t i = 0; i < judging->envelopes.count; i++) {
		struct tkb_statement *statement =
			&judging->envelopes.items[i].statement;

		/* The statement names no stage: assume the ref's, so that
		   only the key's roles decide. */
		statement->stage = tkb_trust_stage_of(&judging->trust, ref);
		statement->ref = strcmp(judging->tags[i], tag) == 0
		                         ? ref
		                         : judging->tags[i] - 1;
	}
	return tkb_judge(&asked, &subject, out, err);
}

/* Judge the image. Without a tag, a signature for any tag will do. */
static int judge_image(struct judging *judging, char ref[TAG_SIZE],
                       struct tkb_opinion *out, struct tkb_error *err)
{
	const char *const tag = judging->question->tag;
	int rc;

	if (tag != NULL)
		return judge_as(judging, tag, ref, out, err);
	rc = judge_as(judging, "", ref, out, err);
	for (size_t i = 0; i < judging->envelopes.count && rc == 0 &&
	                   out->judgement != TKB_TRUSTED;
	     i++)
		rc = judge_as(judging, judging->tags[i], ref, out, err);
	return rc;
}

/* Refuse the image if a newer signature was seen under this tag. */
static int recall(const struct judging *judging,
                  const struct tkb_remote *remote, struct tkb_opinion *opinion,
                  struct tkb_error *err)
{
	char name[TAG_SIZE + 8];
	struct tkb_digest known;
	uint64_t newest = 0;
	int rc;

	if (!judging->trust.is_replay_refused ||
	    judging->question->tag == NULL || opinion->judgement != TKB_TRUSTED)
		return 0;
	(void)snprintf(name, sizeof(name), "@image/%.128s",
	               judging->question->tag);
	rc = tkb_memory_name(remote, name, &known, err);
	if (rc == 0)
		rc = tkb_memory_note(judging->trust.memory, &known,
		                     opinion->signatures[0].sequence, &newest,
		                     err);
	if (rc < 0 || newest <= opinion->signatures[0].sequence)
		return rc;
	opinion->judgement = TKB_REFUSED;
	(void)snprintf(opinion->words, sizeof(opinion->words),
	               "its newest signature is older than one that was seen "
	               "here");
	return 0;
}

/* Call on_trusted() or on_untrusted(), and fail if the image must not be used. */
static int conclude(const struct judging *judging, const char *ref,
                    const struct tkb_opinion *opinion, struct tkb_error *err)
{
	const struct tkb_trust *trust = &judging->trust;
	const struct tkb_digest *manifest = judging->question->manifest;
	const bool is_trusted = opinion->judgement == TKB_TRUSTED;
	const bool is_used =
		is_trusted || (opinion->judgement == TKB_UNSIGNED &&
	                       trust->unsigned_records != TKB_UNSIGNED_REFUSE);
	struct tkb_error why = { 0 };

	if (is_trusted && trust->on_trusted != NULL)
		trust->on_trusted(trust->self,
		                  &(struct tkb_trusted){
					  ref, manifest, opinion->signatures,
					  opinion->signature_count });
	if (is_used &&
	    (is_trusted || trust->unsigned_records == TKB_UNSIGNED_ACCEPT))
		return 0;
	(void)tkb_fail(&why, TKB_ERR_UNTRUSTED,
	               "image '%.128s%s%.12s' is not trusted: %s",
	               judging->question->tag != NULL ? judging->question->tag
	                                              : "",
	               judging->question->tag != NULL ? "@" : "",
	               tkb_digest_hex(manifest).text, opinion->words);
	if (trust->on_untrusted != NULL)
		trust->on_untrusted(trust->self,
		                    &(struct tkb_untrusted){ ref, manifest,
		                                             why.message,
		                                             is_used });
	return is_used ? 0 : tkb_fail_as(err, TKB_ERR_UNTRUSTED, &why);
}

int tkb_image_judge(struct tkb_remote *remote,
                    const struct tkb_image_question *question,
                    struct tkb_error *err)
{
	TKB_AUTO(judging_end) struct judging judging = { .question = NULL };
	struct tkb_image_question own;
	struct tkb_opinion opinion;
	char ref[TAG_SIZE] = "";
	int rc;

	rc = TKB_STRUCT_READ(tkb_image_question, signature_count, &own,
	                     question, err);
	if (rc == 0 && remote->options.trust == NULL)
		rc = tkb_fail(err, TKB_ERR_INVALID, "there is no policy");
	if (rc == 0)
		rc = tkb_trust_read(&judging.trust, remote->options.trust, err);
	judging.question = &own;
	if (rc == 0)
		rc = tkb_revocations_check(remote, &judging.trust,
		                           tkb_time_now(), &judging.revoked,
		                           err);
	if (rc == 0)
		rc = take_signatures(&judging, err);
	if (rc == 0)
		rc = judge_image(&judging, ref, &opinion, err);
	if (rc == 0)
		rc = recall(&judging, remote, &opinion, err);
	if (rc != 0)
		return rc;
	if (tkb_digests_have(&judging.revoked.all.digests, own.manifest)) {
		opinion.judgement = TKB_REFUSED;
		(void)snprintf(opinion.words, sizeof(opinion.words),
		               "it is revoked");
	}
	return conclude(&judging, ref, &opinion, err);
}
