/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/signatures.h>

#include "records/records.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/parallel.h"
#include "trust/date.h"
#include "trust/judge.h"
#include "trust/memory.h"
#include "trust/revocations.h"

enum {
	/* The number of records that are judged at once. */
	BATCH = 128,
	/* The least for each thread: fewer cost less than its start. */
	SHARE = 4
};

/* A question to a policy. */
struct question {
	struct tkb_case asked;
	struct tkb_record_list *list;
	struct tkb_opinion *opinions; /* owned; one per record of the batch */
	size_t first;                 /* the batch's first record */
	size_t end;                   /* the end of the batch */
	uint64_t newest;              /* the highest sequence of a signature
	                                 that counts */
};

/*
 * Report that a record (`digest`) or, if that is NULL, the whole ref is not
 * trusted.
 */
static void tell_untrusted(const struct question *question,
                           const struct tkb_digest *digest, bool is_used,
                           const struct tkb_error *why)
{
	const struct tkb_trust *trust = question->asked.trust;
	const char *ref = question->asked.ref;

	if (trust->on_untrusted != NULL)
		trust->on_untrusted(trust->self,
		                    &(struct tkb_untrusted){ ref, digest,
		                                             why->message,
		                                             is_used });
	if (!is_used && question->list->untrusted_count++ == 0)
		question->list->untrusted = *why;
}

static void tell_trusted(struct question *question,
                         const struct tkb_digest *digest,
                         const struct tkb_opinion *opinion)
{
	const struct tkb_trust *trust = question->asked.trust;
	const struct tkb_trusted told = { question->asked.ref, digest,
		                          opinion->signatures,
		                          opinion->signature_count };

	/* Signatures are sorted, the newest first. */
	if (opinion->signatures[0].sequence > question->newest)
		question->newest = opinion->signatures[0].sequence;
	if (trust->on_trusted != NULL)
		trust->on_trusted(trust->self, &told);
}

static bool is_revoked(const struct tkb_digests *revoked,
                       const struct tkb_record *record,
                       const struct tkb_subject *subject)
{
	return tkb_digests_have(revoked, &record->digest) ||
	       tkb_digests_have(revoked, &record->blob) ||
	       tkb_digests_have(revoked, &subject->bundle) ||
	       tkb_digests_have(revoked, &subject->content);
}

/* Note the digests that may be revoked later. */
static int note_origin(struct tkb_record *record,
                       const struct tkb_subject *subject,
                       const struct tkb_opinion *opinion, struct tkb_error *err)
{
	const struct tkb_digest own[] = { record->digest, record->blob,
		                          subject->bundle, subject->content };
	int rc = 0;

	for (size_t i = 0; i < TKB_COUNT_OF(own) && rc == 0; i++)
		rc = tkb_digests_add(&record->origin, &own[i], err);
	for (size_t i = 0; i < opinion->signature_count && rc == 0; i++)
		rc = tkb_digests_add(&record->origin,
		                     &opinion->signatures[i].key, err);
	return rc;
}

static int judge_record(const struct question *question,
                        struct tkb_record *record, struct tkb_opinion *out,
                        struct tkb_error *err)
{
	struct tkb_subject subject;
	int rc;

	rc = tkb_record_subject(record, &subject, err);
	if (rc == 0)
		rc = tkb_judge(&question->asked, &subject, out, err);
	if (rc == 0)
		rc = note_origin(record, &subject, out, err);
	if (rc < 0 || !is_revoked(question->asked.revoked, record, &subject))
		return rc;
	out->judgement = TKB_REFUSED;
	(void)snprintf(out->words, sizeof(out->words), "it is revoked");
	return 0;
}

static int judge_one(void *self, size_t worker, size_t index,
                     struct tkb_error *err)
{
	const struct question *question = self;

	(void)worker;
	return judge_record(question,
	                    &question->list->items[question->first + index],
	                    &question->opinions[index], err);
}

/* Judge a batch of records from `first` on, in threads: it takes long. */
static int judge_batch(struct question *question, size_t first,
                       struct tkb_error *err)
{
	const struct tkb_parallel_work work = { judge_one, question };
	const size_t rest = question->list->count - first;
	const size_t count = rest < BATCH ? rest : BATCH;
	const size_t useful = (count + SHARE - 1) / SHARE;
	size_t threads = tkb_parallel_threads(0);

	if (question->opinions == NULL)
		question->opinions =
			tkb_alloc_array(count, sizeof(*question->opinions));
	if (question->opinions == NULL)
		return tkb_fail_nomem(err);
	if (threads > useful)
		threads = useful;
	question->first = first;
	question->end = first + count;
	return tkb_parallel(count, threads, &work, err);
}

static int is_trusted(void *self, struct tkb_record *record, bool *out,
                      struct tkb_error *err)
{
	struct question *question = self;
	const enum tkb_unsigned mode = question->asked.trust->unsigned_records;
	const size_t index = (size_t)(record - question->list->items);
	const struct tkb_opinion *opinion;
	struct tkb_error why = { 0 };
	int rc = 0;

	if (index >= question->end)
		rc = judge_batch(question, index, err);
	if (rc < 0)
		return rc;
	opinion = &question->opinions[index - question->first];
	*out = opinion->judgement == TKB_TRUSTED ||
	       (opinion->judgement == TKB_UNSIGNED &&
	        mode != TKB_UNSIGNED_REFUSE);
	if (opinion->judgement == TKB_TRUSTED)
		tell_trusted(question, &record->digest, opinion);
	if (*out &&
	    (opinion->judgement == TKB_TRUSTED || mode != TKB_UNSIGNED_WARN))
		return 0;
	(void)tkb_fail(&why, TKB_ERR_UNTRUSTED,
	               "record %.12s of ref '%s' is not trusted: %s",
	               tkb_digest_hex(&record->digest).text,
	               question->asked.ref, opinion->words);
	tell_untrusted(question, &record->digest, *out, &why);
	return 0;
}

static int keep_none(void *self, struct tkb_record *record, bool *out,
                     struct tkb_error *err)
{
	struct question *question = self;

	(void)record, (void)err;
	*out = false;
	question->list->untrusted_count++;
	return 0;
}

/*
 * If a newer signature of the ref was seen here than the remote shows, keep
 * none of its records.
 */
static int note_newest_seen(struct question *question,
                            const struct tkb_remote *remote,
                            struct tkb_error *err)
{
	const struct tkb_trust *trust = question->asked.trust;
	struct tkb_error why = { 0 };
	struct tkb_digest name;
	uint64_t seen = 0;
	int rc;

	if (!trust->is_replay_refused || question->list->count == 0)
		return 0;
	rc = tkb_memory_name(remote, question->asked.ref, &name, err);
	if (rc == 0)
		rc = tkb_memory_note(trust->memory, &name, question->newest,
		                     &seen, err);
	if (rc < 0 || seen <= question->newest)
		return rc;
	(void)tkb_fail(&why, TKB_ERR_UNTRUSTED,
	               "ref '%s' is not trusted: its newest signature is older "
	               "than one that was seen here",
	               question->asked.ref);
	tell_untrusted(question, NULL, false, &why);
	question->list->untrusted_count--; /* keep_none() counts records */
	return tkb_records_keep(question->list, keep_none, question, err);
}

static int keep_trusted(struct question *question, struct tkb_remote *remote,
                        struct tkb_envelopes *envelopes, struct tkb_error *err)
{
	int rc;

	rc = tkb_envelopes_read(remote, question->asked.ref, envelopes, err);
	if (rc == 0)
		rc = tkb_records_keep(question->list, is_trusted, question,
		                      err);
	free(question->opinions);
	return rc == 0 ? note_newest_seen(question, remote, err) : rc;
}

int tkb_records_keep_trusted(struct tkb_remote *remote, const char *ref,
                             struct tkb_record_list *list,
                             struct tkb_error *err)
{
	TKB_AUTO(tkb_revocations_release)
	struct tkb_revocations revoked = { .count = 0 };
	TKB_AUTO(tkb_envelopes_release)
	struct tkb_envelopes envelopes = { .count = 0 };
	struct tkb_trust trust;
	struct question question = {
		.asked = { .trust = &trust,
		           .envelopes = &envelopes,
		           .revoked = &revoked.all.digests,
		           .ref = ref,
		           .now_s = tkb_time_now() },
		.list = list,
	};
	int rc;

	if (remote->options.trust == NULL)
		return 0;
	rc = tkb_trust_read(&trust, remote->options.trust, err);
	if (rc == 0)
		rc = tkb_revocations_check(remote, &trust, question.asked.now_s,
		                           &revoked, err);
	return rc == 0 ? keep_trusted(&question, remote, &envelopes, err) : rc;
}

int tkb_ref_judge(struct tkb_remote *remote, const char *ref,
                  uint64_t *untrusted_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list list = { 0 };
	int rc;

	if (remote->options.trust == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "there is no policy that says whose signatures "
		                "of '%.200s' count",
		                ref);
	rc = tkb_record_list_read(remote, ref, false, &list, err);
	if (rc == 0 && list.count + list.fault_count == 0)
		return TKB_MISS;
	if (rc == 0)
		rc = tkb_records_keep_trusted(remote, ref, &list, err);
	if (rc == 0)
		*untrusted_out = list.untrusted_count;
	return rc;
}

static int is_not_revoked(void *self, struct tkb_record *record, bool *out,
                          struct tkb_error *err)
{
	struct tkb_subject subject;
	int rc;

	rc = tkb_record_subject(record, &subject, err);
	*out = rc == 0 && !is_revoked(self, record, &subject);
	return rc;
}

int tkb_records_drop_revoked(struct tkb_remote *remote,
                             struct tkb_record_list *list,
                             struct tkb_error *err)
{
	TKB_AUTO(tkb_revocations_release)
	struct tkb_revocations revoked = { .count = 0 };
	int rc;

	if (list->count < 2)
		return 0;
	rc = tkb_revocations_read(remote, NULL, 0, 0, NULL, &revoked, err);
	if (rc < 0 || revoked.all.digests.count == 0)
		return rc;
	return tkb_records_keep(list, is_not_revoked, &revoked.all.digests,
	                        err);
}

int tkb_revoked(struct tkb_remote *remote,
                int (*on_digest)(void *self, const struct tkb_digest *digest,
                                 struct tkb_error *err),
                void *self, struct tkb_error *err)
{
	TKB_AUTO(tkb_revocations_release)
	struct tkb_revocations revoked = { .count = 0 };
	struct tkb_trust trust;
	int rc;

	if (remote->options.trust == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "there is no policy that says who may revoke");
	rc = tkb_trust_read(&trust, remote->options.trust, err);
	if (rc == 0)
		rc = tkb_revocations_check(remote, &trust, tkb_time_now(),
		                           &revoked, err);
	for (size_t i = 0; i < revoked.all.digests.count && rc == 0; i++)
		rc = on_digest(self, &revoked.all.digests.items[i], err);
	return rc;
}
