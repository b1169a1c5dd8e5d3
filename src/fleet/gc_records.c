/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/gc.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "fleet/compact.h"
#include "records/records.h"

static int add_gc_item(struct tkb_remote_gc *gc, const char *ref,
                       const struct tkb_record *record, struct tkb_error *err)
{
	const struct tkb_gc_item item = { .ref = ref,
		                          .digest = record->digest,
		                          .blob = record->blob,
		                          .age_s = record->age_s };

	return tkb_append(&gc->items, &gc->item_count, &gc->item_capacity,
	                  &item, sizeof(item), err);
}

static bool is_expired(const struct tkb_remote_gc *gc,
                       const struct tkb_record *record)
{
	return gc->options->has_max_age &&
	       record->age_s > gc->options->max_age_s;
}

static const struct tkb_record *find_record(const struct tkb_record_list *list,
                                            const struct tkb_digest *digest)
{
	for (size_t i = 0; i < list->count; i++) {
		if (tkb_digest_equal(&list->items[i].digest, digest))
			return &list->items[i];
	}
	return NULL;
}

/*
 * Before expired records are dropped, look again: a push may just have found and
 * stamped them.
 */
static int renew_ages(struct tkb_remote_gc *gc, const char *ref,
                      struct tkb_record_list *records, struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list now = { 0 };
	bool has_expired = false;
	int rc;

	for (size_t i = 0; i < records->count; i++)
		has_expired |= is_expired(gc, &records->items[i]);
	if (!has_expired || gc->options->is_dry_run)
		return 0;
	rc = tkb_record_list_read(gc->remote, ref, true, &now, err);
	for (size_t i = 0; i < records->count && rc == 0; i++) {
		struct tkb_record *record = &records->items[i];
		const struct tkb_record *found =
			find_record(&now, &record->digest);

		if (found != NULL)
			record->age_s = found->age_s;
	}
	return rc;
}

/*
 * Drop records that are too old. Remove these, and records without a blob, from
 * the list.
 */
static int drop_expired(struct tkb_remote_gc *gc, const char *ref,
                        struct tkb_record_list *records, struct tkb_error *err)
{
	size_t kept = 0;
	int rc;

	rc = renew_ages(gc, ref, records, err);
	for (size_t i = 0; i < records->count; i++) {
		struct tkb_record *record = &records->items[i];
		const bool is_old = is_expired(gc, record);
		bool is_refused = false;

		if (rc < 0 || !(record->is_hole || is_old)) {
			records->items[kept++] = *record;
			continue;
		}
		if (record->is_hole)
			tkb_remote_gc_report_removed(gc, ref, &record->digest,
			                             record->size);
		else
			rc = tkb_remote_gc_drop(gc, ref, &record->digest,
			                        record->size, &is_refused, err);
		if (is_refused) {
			records->items[kept++] = *record;
			continue;
		}
		gc->report.hole_count += record->is_hole;
		gc->report.expired_count += !record->is_hole;
		tkb_record_release(record);
	}
	records->count = kept;
	return rc;
}

static bool wants_compaction(const struct tkb_remote_gc *gc,
                             const struct tkb_record_list *records)
{
	return !gc->options->is_compaction_off && !gc->options->is_dry_run &&
	       records->count > TKB_RECORDS_LIMIT;
}

static void report_fault(struct tkb_remote_gc *gc, const char *ref,
                         const struct tkb_record_fault *fault)
{
	const struct tkb_remote_gc_options *options = gc->options;
	const struct tkb_remote_fault told = tkb_record_fault_of(ref, fault);

	if (options->on_fault != NULL)
		options->on_fault(options->self, &told);
	if (gc->fault.status != 0)
		return;
	if (fault->trouble == TKB_RECORD_UNREAD)
		(void)tkb_fail(&gc->fault, (enum tkb_status)fault->status,
		               "nothing is removed, because ref '%s' has "
		               "records that cannot be read: %s",
		               ref, fault->message);
	else
		(void)tkb_fail(&gc->fault, TKB_ERR_UNSUPPORTED,
		               "nothing is removed, because ref '%s' has "
		               "records that this tkbundle cannot read: %s",
		               ref, fault->message);
}

/*
 * Note faults. A damaged record is useless to everybody; after any other fault,
 * another program may be able to read the record.
 */
static void note_faults(struct tkb_remote_gc *gc, const char *ref,
                        const struct tkb_record_list *records)
{
	for (size_t i = 0; i < records->fault_count; i++) {
		if (records->faults[i].trouble != TKB_RECORD_DAMAGED)
			report_fault(gc, ref, &records->faults[i]);
		else
			gc->has_lost_name = true;
	}
}

static int check_faults(const struct tkb_remote_gc *gc, struct tkb_error *err)
{
	const struct tkb_error *fault = &gc->fault;

	return fault->status != 0 ? tkb_fail_as(err, fault->status, fault) : 0;
}

static int read_ref_records(struct tkb_remote_gc *gc, const char *ref,
                            struct tkb_record_list *out, struct tkb_error *err)
{
	int rc;

	rc = tkb_watch_check(gc->options->watch, err);
	if (rc == 0)
		rc = tkb_record_list_read(gc->remote, ref, true, out, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "ref '%s'", ref);
	note_faults(gc, ref, out);
	return 0;
}

/* Fail, before anything is changed, if a record of any ref cannot be read. */
static int check_refs(struct tkb_remote_gc *gc, struct tkb_error *err)
{
	for (size_t i = 0; i < gc->refs.count; i++) {
		TKB_AUTO(tkb_record_list_release)
		struct tkb_record_list records = { 0 };
		int rc;

		rc = read_ref_records(gc, gc->refs.items[i], &records, err);
		if (rc < 0)
			return rc;
		tkb_remote_gc_count_step(gc);
	}
	return check_faults(gc, err);
}

/* Drop the ref's signatures of records that are not in `records`. */
static int prune_envelopes(struct tkb_remote_gc *gc, const char *ref,
                           const struct tkb_record_list *records,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_subject *living =
		tkb_alloc_array(records->count, sizeof(*living));
	int rc = 0;

	if (living == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < records->count && rc == 0; i++)
		rc = tkb_record_subject(&records->items[i], &living[i], err);
	if (rc < 0 || tkb_fleet_tier(gc->remote) == NULL)
		return rc;
	return tkb_envelopes_prune(gc->remote, ref, living, records->count,
	                           tkb_remote_gc_grace(gc),
	                           gc->options->is_dry_run,
	                           &gc->report.envelope_count, err);
}

static bool is_signed(const struct tkb_remote_gc *gc, const char *ref)
{
	char name[sizeof(TKB_SIGNED_PREFIX) + TKB_REF_SIZE];

	(void)snprintf(name, sizeof(name), TKB_SIGNED_PREFIX "%s", ref);
	return tkb_is_among_sorted(name, gc->signed_refs.items,
	                           gc->signed_refs.count);
}

/*
 * Like tkb_remote_gc_note_refusal(), for objects of a ref that are not records.
 */
static int note_ref_refusal(struct tkb_remote_gc *gc, int rc, const char *ref,
                            const struct tkb_error *why, struct tkb_error *err)
{
	bool is_refused = false;

	return tkb_remote_gc_note_refusal(gc, rc, ref, NULL, why, &is_refused,
	                                  err);
}

/* Drop the signatures of refs that have no record. */
static int prune_orphans(struct tkb_remote_gc *gc, struct tkb_error *err)
{
	static const struct tkb_record_list none = { .count = 0 };
	const struct tkb_ref_names *names = &gc->signed_refs;
	struct tkb_error why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < names->count && rc == 0; i++) {
		const char *ref = names->items[i] + strlen(TKB_SIGNED_PREFIX);

		if (!tkb_is_among_sorted(ref, gc->refs.items, gc->refs.count))
			rc = prune_envelopes(gc, ref, &none, &why);
		rc = note_ref_refusal(gc, rc, ref, &why, err);
	}
	return rc;
}

/* Compact the records that the caller's keys have signed for a stage. */
static int compact_signed(struct tkb_remote_gc *gc, const char *ref,
                          enum tkb_trust_stage stage, struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { .count = 0 };
	struct tkb_signer signer = { .now_s = 0 };
	struct tkb_signing signing;
	int rc;

	rc = tkb_signing_read(&signing, gc->options->signing, err);
	signing.stage = stage;
	if (rc == 0)
		rc = tkb_signer_begin(&signer, &signing, gc->remote, ref, err);
	if (rc == 0)
		rc = read_ref_records(gc, ref, &records, err);
	if (rc == 0)
		rc = check_faults(gc, err);
	if (rc == 0)
		rc = tkb_compact(gc->remote, ref, &records, &signer,
		                 &gc->report.compacted_count, err);
	tkb_signer_release(&signer);
	return rc;
}

/* Compact the ref, and read its records again. */
static int compact(struct tkb_remote_gc *gc, const char *ref,
                   struct tkb_record_list *records, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < records->count && rc == 0; i++)
		rc = tkb_digests_add(&gc->compacted, &records->items[i].blob,
		                     &why);
	if (rc == 0)
		rc = tkb_compact(gc->remote, ref, records, NULL,
		                 &gc->report.compacted_count, &why);
	if (rc == 0 && gc->options->signing != NULL)
		rc = compact_signed(gc, ref, TKB_TRUST_STAGE_DEV, &why);
	if (rc == 0 && gc->options->signing != NULL)
		rc = compact_signed(gc, ref, TKB_TRUST_STAGE_PROD, &why);
	rc = note_ref_refusal(gc, rc, ref, &why, err);
	tkb_record_list_release(records);
	if (rc == 0)
		rc = read_ref_records(gc, ref, records, err);
	return rc == 0 ? check_faults(gc, err) : rc;
}

/*
 * Drop damaged records, and records without a blob. If dropping is refused,
 * they stay.
 */
static int drop_useless(struct tkb_remote_gc *gc, const char *ref,
                        struct tkb_record_list *records, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	uint64_t damaged = 0;
	int rc;

	rc = tkb_records_drop_damaged(gc->remote, ref, records, &damaged, &why);
	gc->report.hole_count += damaged;
	rc = note_ref_refusal(gc, rc, ref, &why, err);
	if (rc < 0)
		return rc;
	why = (struct tkb_error){ 0 };
	rc = tkb_records_check(gc->remote, records, false, err);
	if (rc < 0)
		return rc;
	rc = tkb_records_drop_holes(gc->remote, ref, records, &why);
	for (size_t i = 0; i < records->count && rc == TKB_ERR_DENIED; i++)
		records->items[i].is_hole = false;
	return note_ref_refusal(gc, rc, ref, &why, err);
}

static int clean_ref(struct tkb_remote_gc *gc, const char *ref,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };
	struct tkb_error why = { 0 };
	int rc;

	rc = read_ref_records(gc, ref, &records, err);
	if (rc == 0)
		rc = check_faults(gc, err);
	if (rc < 0)
		return rc;
	gc->report.record_count += records.count;
	if (gc->options->is_dry_run)
		rc = tkb_records_check(gc->remote, &records, false, err);
	else
		rc = drop_useless(gc, ref, &records, err);
	if (rc == 0)
		rc = drop_expired(gc, ref, &records, err);
	if (rc == 0 && wants_compaction(gc, &records))
		rc = compact(gc, ref, &records, err);
	for (size_t i = 0; i < records.count && rc == 0; i++)
		rc = add_gc_item(gc, ref, &records.items[i], err);
	if (rc < 0 || !is_signed(gc, ref))
		return rc;
	rc = prune_envelopes(gc, ref, &records, &why);
	return note_ref_refusal(gc, rc, ref, &why, err);
}

/* Order: least recently used first. */
static int compare_record_ages(const void *a, const void *b)
{
	const struct tkb_gc_item *left = a;
	const struct tkb_gc_item *right = b;

	if (left->age_s != right->age_s)
		return left->age_s > right->age_s ? -1 : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

static void sort_items(struct tkb_remote_gc *gc)
{
	tkb_sort(gc->items, gc->item_count, sizeof(*gc->items),
	         compare_record_ages);
}

int tkb_remote_gc_read_again(struct tkb_remote_gc *gc, struct tkb_error *err)
{
	struct tkb_ref_names names = { .count = 0 };
	int rc;

	rc = tkb_remote_ref_names(gc->remote, true, &names, err);
	tkb_ref_names_release(&gc->refs);
	gc->refs = names;
	gc->item_count = 0;
	for (size_t i = 0; i < names.count && rc == 0; i++) {
		TKB_AUTO(tkb_record_list_release)
		struct tkb_record_list records = { 0 };

		rc = read_ref_records(gc, names.items[i], &records, err);
		for (size_t j = 0; j < records.count && rc == 0; j++)
			rc = add_gc_item(gc, names.items[i], &records.items[j],
			                 err);
	}
	sort_items(gc);
	return rc == 0 ? check_faults(gc, err) : rc;
}

int tkb_remote_gc_records(struct tkb_remote_gc *gc, struct tkb_error *err)
{
	const struct tkb_ref_names *refs = &gc->refs;
	int rc;

	rc = check_refs(gc, err);
	for (size_t i = 0; i < refs->count && rc == 0; i++) {
		rc = clean_ref(gc, refs->items[i], err);
		tkb_remote_gc_count_step(gc);
	}
	if (rc == 0)
		rc = prune_orphans(gc, err);
	tkb_digests_sort(&gc->compacted);
	sort_items(gc);
	return rc;
}
