/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <tkbundle/fleet.h>

#include "base/digest.h"
#include "base/disable.h"
#include "base/struct.h"
#include "cache/watch.h"
#include "format/reader.h"
#include "records/records.h"
#include "remote/remote.h"

/*
 * Each tier is verified like a remote of its own: the records of each ref, the
 * blob that each record names and the bundle in it, then the blobs that no record
 * names. A damaged object is read twice before it is dropped: it may have been
 * damaged only in transit.
 */

enum {
	FAILURES_LIMIT = 3 /* so many in a row: the tier is unavailable */
};

struct read_blob {
	struct tkb_digest digest;
	uint64_t size; /* of the bytes that were read */
};

struct auditor {
	const struct tkb_remote_verify_options *options;
	struct tkb_remote one;     /* the tier that is verified */
	bool is_shared;            /* the last tier: a blob that it lacks is
	                              missing */
	struct tkb_digests named;  /* blobs of the tier's records */
	struct tkb_digests stored; /* blobs that it lists */
	struct read_blob *read;    /* owned; one item for each record that
	                              names it */
	size_t read_count;
	size_t read_capacity;
	unsigned failures;   /* in a row, of blobs that could not be read */
	uint64_t steps_done; /* records, and blobs that are listed */
	uint64_t steps;      /* of those known so far */
	struct tkb_remote_verify_report report;
	struct tkb_error damage; /* the first damage */
	struct tkb_error first;  /* the first other failure */
};

static void auditor_close(struct auditor *auditor)
{
	tkb_digests_release(&auditor->named);
	tkb_digests_release(&auditor->stored);
	free(auditor->read);
}

static int compare_read(const void *a, const void *b)
{
	const struct read_blob *left = a;
	const struct read_blob *right = b;

	return tkb_digest_compare(&left->digest, &right->digest);
}

/* Several records may name one blob: it is counted once. */
static void count_read(struct auditor *auditor)
{
	tkb_sort(auditor->read, auditor->read_count, sizeof(*auditor->read),
	         compare_read);
	for (size_t i = 0; i < auditor->read_count; i++) {
		if (i > 0 &&
		    compare_read(&auditor->read[i - 1], &auditor->read[i]) == 0)
			continue;
		auditor->report.blob_count++;
		auditor->report.size += auditor->read[i].size;
	}
	auditor->read_count = 0;
}

static void count_step(struct auditor *auditor)
{
	auditor->steps_done++;
	tkb_watch_tell(auditor->options->watch, auditor->steps_done,
	               auditor->steps);
}

static struct tkb_tier *tier_of(const struct auditor *auditor)
{
	return auditor->one.tiers;
}

static int add_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                    uint64_t age_s, struct tkb_error *err)
{
	struct auditor *auditor = self;

	(void)size, (void)age_s;
	return tkb_digests_add(&auditor->stored, digest, err);
}

/* If the caller wants a repair, drop the damaged record or blob. */
static int repair(struct auditor *auditor, struct tkb_remote_fault *fault,
                  struct tkb_error *err)
{
	int rc;

	if (!auditor->options->is_repair ||
	    fault->trouble != TKB_REMOTE_TROUBLE_DAMAGED ||
	    tier_of(auditor)->is_read_only)
		return 0;
	rc = fault->is_blob
	             ? tkb_remote_remove(&auditor->one, 0, fault->digest, err)
	             : tkb_remote_drop(&auditor->one, fault->ref, fault->digest,
	                               err);
	fault->is_dropped = rc == 0;
	auditor->report.dropped_count += rc == 0;
	return rc < 0 ? rc : 0;
}

static void note_first(struct tkb_error *first, int status, const char *message)
{
	if (first->status == 0)
		(void)tkb_fail(first, status, "%s", message);
}

static int report_fault(struct auditor *auditor, struct tkb_remote_fault fault,
                        struct tkb_error *err)
{
	const struct tkb_remote_verify_options *options = auditor->options;
	struct tkb_remote_verify_report *report = &auditor->report;
	int rc;

	rc = repair(auditor, &fault, err);
	report->damaged_count += fault.trouble == TKB_REMOTE_TROUBLE_DAMAGED;
	report->missing_count += fault.trouble == TKB_REMOTE_TROUBLE_MISSING;
	report->unread_count += fault.trouble == TKB_REMOTE_TROUBLE_UNREAD;
	report->newer_count += fault.trouble == TKB_REMOTE_TROUBLE_NEWER;
	if (fault.trouble != TKB_REMOTE_TROUBLE_DAMAGED)
		note_first(&auditor->first, TKB_ERR_PARTIAL, fault.message);
	else
		note_first(&auditor->damage, TKB_ERR_CORRUPT, fault.message);
	if (options->on_fault != NULL)
		options->on_fault(options->self, &fault);
	return rc;
}

static int report_blob_fault(struct auditor *auditor,
                             enum tkb_remote_trouble trouble, const char *ref,
                             const struct tkb_digest *digest,
                             const char *message, struct tkb_error *err)
{
	return report_fault(auditor,
	                    (struct tkb_remote_fault){ .trouble = trouble,
	                                               .ref = ref,
	                                               .is_blob = true,
	                                               .digest = digest,
	                                               .message = message },
	                    err);
}

/*
 * Report a blob that cannot be read, and go on, unless the tier is unavailable.
 */
static int report_unread(struct auditor *auditor, const char *ref,
                         const struct tkb_digest *digest,
                         const struct tkb_error *why, struct tkb_error *err)
{
	struct tkb_tier *tier = tier_of(auditor);

	/*
	 * Blobs that are refused or too large say nothing of the tier: only
	 * failed connections count.
	 */
	auditor->failures += why->status == TKB_ERR_UNAVAILABLE;
	if (tkb_fleet_is_final(why->status) ||
	    auditor->failures == FAILURES_LIMIT)
		return tkb_fail_as(err, why->status, why);
	tier->is_unreachable = false;
	return report_blob_fault(auditor, TKB_REMOTE_TROUBLE_UNREAD, ref,
	                         digest, why->message, err);
}

static int report_missing(struct auditor *auditor, const char *ref,
                          const struct tkb_digest *digest,
                          struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	if (!auditor->is_shared || ref == NULL)
		return 0;
	(void)tkb_fail(&why, TKB_ERR_CORRUPT, "remote '%s': blob %s is gone",
	               tier_of(auditor)->url->name,
	               tkb_digest_hex(digest).text);
	return report_blob_fault(auditor, TKB_REMOTE_TROUBLE_MISSING, ref,
	                         digest, why.message, err);
}

/*
 * Fetch a blob into `buffer`; TKB_MISS if it does not exist, or the failure was
 * reported.
 */
static int read_blob(struct auditor *auditor, const char *ref,
                     const struct tkb_digest *digest,
                     struct tkb_blob_buffer *buffer, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	int rc;

	rc = tkb_tier_fetch(tier_of(auditor), digest, buffer, &why);
	if (rc == TKB_ERR_CORRUPT)
		rc = tkb_tier_fetch(tier_of(auditor), digest, buffer, &why);
	if (rc == 0 || rc == TKB_ERR_CORRUPT) {
		const struct read_blob read = { *digest, buffer->size };

		if (tkb_append(&auditor->read, &auditor->read_count,
		               &auditor->read_capacity, &read, sizeof(read),
		               err) < 0)
			return TKB_ERR_NOMEM;
	}
	if (rc == TKB_MISS) {
		rc = report_missing(auditor, ref, digest, err);
		return rc < 0 ? rc : TKB_MISS;
	}
	if (rc >= 0) {
		auditor->failures = 0;
		return 0;
	}
	if (rc == TKB_ERR_CORRUPT)
		rc = report_blob_fault(auditor, TKB_REMOTE_TROUBLE_DAMAGED, ref,
		                       digest, why.message, err);
	else
		rc = report_unread(auditor, ref, digest, &why, err);
	return rc < 0 ? rc : TKB_MISS;
}

/* Check the bundle, and compare it with its record. */
static int check_bundle(const struct auditor *auditor,
                        const struct tkb_record *record,
                        struct tkb_blob_buffer *buffer, struct tkb_error *err)
{
	const struct tkb_watch *watch = auditor->options->watch;
	const struct tkb_watch quiet = { .struct_size = sizeof(quiet),
		                         .self = watch->self,
		                         .is_cancelled = watch->is_cancelled };
	const struct tkb_verify_options options = {
		.struct_size = sizeof(options),
		.threads = auditor->options->threads,
		.watch = &quiet,
	};
	const struct tkb_source source = tkb_blob_buffer_source(buffer);
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_pinned(&source, "its bundle", &record->bundle,
	                            &record->frames, &bundle, err);
	if (rc == 0)
		rc = tkb_bundle_verify(bundle, &options, NULL, err);
	tkb_bundle_close(bundle);
	return rc;
}

static int check_record(struct auditor *auditor, const char *ref,
                        const struct tkb_record *record, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer =
		TKB_BLOB_BUFFER_INIT(auditor->one.max_blob_size);
	struct tkb_error why = { 0 };
	int rc;

	rc = tkb_digests_add(&auditor->named, &record->blob, err);
	if (rc == 0)
		rc = read_blob(auditor, ref, &record->blob, &buffer, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = buffer.size == record->size
	             ? check_bundle(auditor, record, &buffer, &why)
	             : tkb_fail(&why, TKB_ERR_CORRUPT,
	                        "its blob has another size");
	/* Too large for us, but a newer tkbundle may have a higher limit. */
	if (rc == TKB_ERR_TOO_LARGE)
		rc = tkb_fail(&why, TKB_ERR_UNSUPPORTED, "%s", why.message);
	if (rc == 0)
		return 0;
	if (tkb_fleet_is_final(rc))
		return tkb_fail_as(err, rc, &why);
	(void)tkb_fail_while(&why, rc, "remote '%s': record %s",
	                     tier_of(auditor)->url->name,
	                     tkb_digest_hex(&record->digest).text);
	return report_fault(
		auditor,
		(struct tkb_remote_fault){
			.trouble = rc == TKB_ERR_UNSUPPORTED
	                                   ? TKB_REMOTE_TROUBLE_NEWER
	                                   : TKB_REMOTE_TROUBLE_DAMAGED,
			.ref = ref,
			.digest = &record->digest,
			.message = why.message },
		err);
}

static int report_records(struct auditor *auditor, const char *ref,
                          const struct tkb_record_list *list,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list again = { 0 };
	int rc = 0;

	if (list->fault_count != 0)
		rc = tkb_record_list_read(&auditor->one, ref, true, &again,
		                          err);
	for (size_t i = 0; i < list->fault_count && rc == 0; i++) {
		const struct tkb_record_fault *fault = &list->faults[i];

		if (tkb_record_list_fault(&again, fault->trouble,
		                          &fault->digest) != NULL)
			rc = report_fault(auditor,
			                  tkb_record_fault_of(ref, fault), err);
	}
	return rc;
}

static int check_ref(struct auditor *auditor, const char *ref,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list list = { 0 };
	int rc;

	rc = tkb_record_list_read(&auditor->one, ref, true, &list, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "ref '%s'", ref);
	auditor->report.record_count += list.count + list.fault_count;
	auditor->steps += list.count;
	rc = report_records(auditor, ref, &list, err);
	for (size_t i = 0; i < list.count && rc == 0; i++) {
		rc = check_record(auditor, ref, &list.items[i], err);
		count_step(auditor);
	}
	return rc;
}

static int check_unnamed(struct auditor *auditor, struct tkb_error *err)
{
	const struct tkb_blob_visitor visitor = { add_blob, auditor };
	const struct tkb_digests *stored = &auditor->stored;
	int rc;

	tkb_digests_sort(&auditor->named);
	rc = tkb_remote_list(&auditor->one, 0, &visitor, err);
	auditor->steps += stored->count;
	for (size_t i = 0; i < stored->count && rc >= 0; i++) {
		TKB_AUTO(tkb_blob_buffer_release)
		struct tkb_blob_buffer buffer =
			TKB_BLOB_BUFFER_INIT(auditor->one.max_blob_size);

		if (!tkb_digests_have(&auditor->named, &stored->items[i]))
			rc = read_blob(auditor, NULL, &stored->items[i],
			               &buffer, err);
		count_step(auditor);
	}
	return rc < 0 ? rc : 0;
}

static int audit_tier(struct auditor *auditor, struct tkb_error *err)
{
	TKB_AUTO(tkb_ref_names_release) struct tkb_ref_names refs = { 0 };
	const char *ref = auditor->options->ref;
	int rc;

	auditor->named.count = 0;
	auditor->stored.count = 0;
	auditor->failures = 0;
	if (ref != NULL) {
		auditor->report.ref_count++;
		return check_ref(auditor, ref, err);
	}
	rc = tkb_remote_ref_names(&auditor->one, true, &refs, err);
	auditor->report.ref_count += refs.count;
	for (size_t i = 0; i < refs.count && rc == 0; i++)
		rc = check_ref(auditor, refs.items[i], err);
	return rc == 0 ? check_unnamed(auditor, err) : rc;
}

static int verify(struct auditor *auditor, const struct tkb_remote *remote,
                  struct tkb_error *err)
{
	const struct tkb_tier *shared = tkb_fleet_tier(remote);
	int rc = 0;

	if (shared == NULL)
		shared = &remote->tiers[remote->tier_count - 1];
	for (size_t i = 0; i < remote->tier_count && rc == 0; i++) {
		auditor->one.tiers = &remote->tiers[i];
		auditor->is_shared = auditor->one.tiers == shared;
		rc = audit_tier(auditor, err);
		count_read(auditor);
	}
	if (rc == 0 && auditor->options->ref != NULL &&
	    auditor->report.record_count == 0)
		return TKB_MISS;
	return rc;
}

int tkb_remote_verify(struct tkb_remote *remote,
                      const struct tkb_remote_verify_options *options,
                      struct tkb_remote_verify_report *report,
                      struct tkb_error *err)
{
	TKB_AUTO(auditor_close)
	struct auditor auditor = {
		.one = { .tier_count = 1,
		         .max_blob_size = remote->max_blob_size,
		         .max_record_size = remote->max_record_size },
	};
	TKB_AUTO(tkb_remote_detach_watch)
	struct tkb_remote_attachment attachment = { 0 };
	struct tkb_remote_verify_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_remote_verify_options, self, &chosen, options,
	                     err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_remote_verify_report, dropped_count,
		                      report, err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!chosen.is_enabled && tkb_is_disabled())
		chosen.is_repair = false;
	chosen.watch = &timed.watch;
	auditor.options = &chosen;
	tkb_remote_attach_watch(&attachment, remote, &timed.watch);
	rc = verify(&auditor, remote, err);
	if (rc != 0)
		return tkb_timed_end(&timed, rc, err);
	TKB_STRUCT_WRITE(tkb_remote_verify_report, report, &auditor.report);
	return tkb_partial(auditor.damage.status != 0 ? &auditor.damage
	                                              : &auditor.first,
	                   err);
}
