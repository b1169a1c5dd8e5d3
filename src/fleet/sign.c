/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/signatures.h>

#include <inttypes.h>
#include <string.h>

#include "base/struct.h"
#include "cache/watch.h"
#include "fleet/prefetch.h"
#include "records/records.h"
#include "remote/remote.h"
#include "trust/judge.h"

/* The signer, and the records to sign. */
struct signature_work {
	struct tkb_remote *remote;
	const char *ref; /* ref that the signatures are for */
	struct tkb_sign_options options;
	struct tkb_timed timed;
	struct tkb_remote_attachment attachment;
	struct tkb_signer signer;
	struct tkb_record_list records;
	struct tkb_sign_report report;
};

static void work_end(struct signature_work *work)
{
	tkb_remote_detach_watch(&work->attachment);
	tkb_signer_release(&work->signer);
	tkb_record_list_release(&work->records);
}

/* Read the records of `from`, and begin to sign for work->ref. */
static int begin_signing(struct signature_work *work, const char *from,
                         const struct tkb_sign_options *given,
                         const struct tkb_sign_report *report,
                         struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_sign_options, self, &work->options, given,
	                     err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_sign_report, refused_count, report,
		                      err);
	if (rc == 0 && work->options.signing == NULL &&
	    !(work->options.is_dry_run && work->options.vouch != NULL))
		rc = tkb_fail(err, TKB_ERR_INVALID, "there is no key to sign");
	if (rc == 0)
		rc = tkb_timed_begin(&work->timed, work->options.watch,
		                     work->options.deadline_ms, err);
	if (rc < 0)
		return rc;
	tkb_remote_attach_watch(&work->attachment, work->remote,
	                        &work->timed.watch);
	if (work->options.signing != NULL)
		rc = tkb_signer_begin(&work->signer, work->options.signing,
		                      work->remote, work->ref, err);
	if (rc == 0)
		rc = tkb_record_list_read(work->remote, from, false,
		                          &work->records, err);
	if (rc < 0)
		return rc;
	work->report.unreadable_count = work->records.fault_count;
	return work->records.count == 0 && work->records.fault_count == 0
	               ? TKB_MISS
	               : 0;
}

/* Ask the caller to look at the record's blob and vouch for it. */
static int ask_to_vouch(struct signature_work *work,
                        const struct tkb_record *record, bool *out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_gathering_close) struct tkb_gathering blob = { 0 };
	struct tkb_source source;
	int rc;

	*out = true;
	if (work->options.vouch == NULL)
		return 0;
	rc = tkb_gather(&blob, work->remote, record, 1, 1, true, err);
	if (rc < 0)
		return rc;
	source = tkb_prefetch_source(blob.prefetch, 0);
	rc = work->options.vouch(work->options.self, &record->digest,
	                         blob.count == 1 ? &source : NULL, err);
	*out = rc == 0;
	work->report.refused_count += rc == TKB_MISS;
	return rc < 0 ? rc : 0;
}

/*
 * Sign a record if it is not signed yet, and add it to the ref if the ref lacks
 * it.
 */
static int sign_record(struct signature_work *work,
                       const struct tkb_record *record, bool adds,
                       struct tkb_error *err)
{
	struct tkb_subject subject;
	bool is_known = false;
	bool is_vouched = true;
	int rc;

	rc = tkb_record_subject(record, &subject, err);
	if (rc == 0 && !work->options.is_renewal &&
	    work->options.signing != NULL)
		rc = tkb_signer_knows(&work->signer, work->ref, &subject,
		                      &is_known, err);
	if (rc == 0 && !is_known)
		rc = ask_to_vouch(work, record, &is_vouched, err);
	if (rc < 0 || !is_vouched)
		return rc;
	work->report.present_count += is_known;
	work->report.signed_count += !is_known;
	if (work->options.is_dry_run)
		return 0;
	if (!is_known)
		rc = tkb_record_sign(record, &work->signer, work->remote,
		                     work->ref, err);
	/* As in a push, no reader finds a record that will be signed later. */
	if (rc == 0 && adds)
		rc = tkb_remote_add(work->remote, work->ref, record->text, err);
	return rc;
}

/* Sign all records; one whose blob is gone is only counted. */
static int sign_all(struct signature_work *work, bool adds,
                    struct tkb_error *err)
{
	const struct tkb_record_list *records = &work->records;
	const struct tkb_watch *watch = &work->timed.watch;
	int rc = 0;

	for (size_t i = 0; i < records->count && rc == 0; i++) {
		rc = tkb_watch_check(watch, err);
		if (rc == 0 && records->items[i].is_hole)
			work->report.gone_count++;
		else if (rc == 0)
			rc = sign_record(work, &records->items[i], adds, err);
		if (rc == 0)
			tkb_watch_tell(watch, i + 1, records->count);
	}
	return rc;
}

/*
 * Drop what was added if its blob is gone now: a gc that had read the refs before
 * may have removed it.
 */
static int drop_gone(struct signature_work *work, struct tkb_error *err)
{
	struct tkb_record_list *records = &work->records;
	TKB_AUTO(tkb_free_at)
	bool *was_hole = tkb_alloc_array(records->count, sizeof(*was_hole));
	int rc;

	if (was_hole == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < records->count; i++)
		was_hole[i] = records->items[i].is_hole;
	rc = tkb_records_check(work->remote, records, false, err);
	for (size_t i = 0; i < records->count && rc >= 0; i++) {
		if (was_hole[i] || !records->items[i].is_hole)
			continue;
		work->report.gone_count++;
		rc = tkb_remote_drop(work->remote, work->ref,
		                     &records->items[i].digest, err);
	}
	return rc < 0 ? rc : 0;
}

static int end_signing(const struct signature_work *work, int rc,
                       struct tkb_sign_report *report, struct tkb_error *err)
{
	const struct tkb_record_fault *fault = work->records.faults;

	if (rc != 0)
		return tkb_timed_end(&work->timed, rc, err);
	TKB_STRUCT_WRITE(tkb_sign_report, report, &work->report);
	if (work->report.untrusted_count > 0)
		return tkb_fail_as(err, TKB_ERR_UNTRUSTED,
		                   &work->records.untrusted);
	if (work->report.unreadable_count > 0)
		return tkb_fail(err, TKB_ERR_PARTIAL, "%s", fault->message);
	if (work->report.gone_count > 0)
		return tkb_fail(err, TKB_ERR_PARTIAL, "%" PRIu64 " %s gone",
		                work->report.gone_count,
		                work->report.gone_count == 1 ? "blob is"
		                                             : "blobs are");
	if (work->report.refused_count > 0)
		return tkb_fail(err, TKB_ERR_PARTIAL,
		                "%" PRIu64 " of %zu %s not vouched for",
		                work->report.refused_count, work->records.count,
		                work->records.count == 1 ? "record is"
		                                         : "records are");
	return 0;
}

int tkb_ref_sign(struct tkb_remote *remote, const char *ref,
                 const struct tkb_sign_options *options,
                 struct tkb_sign_report *report, struct tkb_error *err)
{
	TKB_AUTO(work_end)
	struct signature_work work = { .remote = remote, .ref = ref };
	int rc;

	rc = begin_signing(&work, ref, options, report, err);
	if (rc == 0)
		rc = sign_all(&work, false, err);
	return end_signing(&work, rc, report, err);
}

int tkb_ref_promote(struct tkb_remote *remote, const char *from, const char *to,
                    const struct tkb_sign_options *options,
                    struct tkb_sign_report *report, struct tkb_error *err)
{
	TKB_AUTO(work_end)
	struct signature_work work = { .remote = remote, .ref = to };
	int rc;

	if (remote->options.trust == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "there is no policy that says whose signatures "
		                "of '%.200s' count",
		                from);
	if (strcmp(from, to) == 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "ref '%.200s' cannot be promoted to itself",
		                to);
	rc = begin_signing(&work, from, options, report, err);
	if (rc == 0 && !tkb_trust_lets_promote(remote->options.trust,
	                                       &work.signer.signing, to))
		return tkb_fail(
			err, TKB_ERR_INVALID,
			"the policy lets other keys promote to '%.200s'", to);
	if (rc == 0)
		rc = tkb_records_keep_trusted(remote, from, &work.records, err);
	work.report.untrusted_count = work.records.untrusted_count;
	/* In some remotes, asking for a blob resets its age. */
	if (rc == 0)
		rc = tkb_records_check(remote, &work.records, false, err);
	if (rc == 0)
		rc = sign_all(&work, true, err);
	if (rc == 0 && !work.options.is_dry_run)
		rc = drop_gone(&work, err);
	return end_signing(&work, rc, report, err);
}
