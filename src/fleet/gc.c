/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/disable.h"
#include "base/struct.h"
#include "cache/watch.h"
#include "fleet/compact.h"
#include "fleet/records.h"
#include "notes/starts.h"
#include "remote/remote.h"

/*
 * First, drop records that are too old or have no blob, and compact refs of many
 * records. Then, in each tier, remove blobs that no record names and that are
 * older than the grace time: a younger one may belong to a push that has not
 * added its record yet. Last, while a tier is too large, drop the records that
 * were not used for longest, with their blobs.
 *
 * All refs are read before anything is changed: if a record cannot be read, its
 * blob is not known, and nothing may be removed.
 */

#define GRACE_S ((uint64_t)24 * 60 * 60)

/* A record that stays. */
struct item {
	const char *ref; /* the collector's */
	struct tkb_digest digest;
	struct tkb_digest blob;
	uint64_t age_s;
};

/* A blob of the tier that is cleaned. */
struct stored {
	struct tkb_digest digest;
	uint64_t size;
	uint64_t age_s;
};

struct collector {
	struct tkb_remote *remote;
	const struct tkb_remote_gc_options *options;
	struct tkb_ref_names refs;
	struct tkb_ref_names
		signed_refs; /* that have signatures, as "@signed/..." */
	struct item *items;  /* owned; when evicting, the oldest first */
	size_t item_count;
	size_t item_capacity;
	/*
	 * Blobs of records that were just compacted: somebody who read them
	 * before may be fetching them.
	 */
	struct tkb_digests compacted;
	bool has_lost_name;     /* a damaged record: its blob is not known */
	struct tkb_error fault; /* of the first record that cannot be read */
	struct stored *blobs;   /* owned; by digest */
	size_t blob_count;
	size_t blob_capacity;
	uint64_t steps_done; /* refs, each twice, and blobs */
	uint64_t steps;      /* how many are known so far */
	struct tkb_remote_gc_report report;
};

static void collector_close(struct collector *collector)
{
	tkb_ref_names_release(&collector->refs);
	tkb_ref_names_release(&collector->signed_refs);
	free(collector->items);
	tkb_digests_release(&collector->compacted);
	free(collector->blobs);
}

static void count_step(struct collector *collector)
{
	collector->steps_done++;
	tkb_watch_tell(collector->options->watch, collector->steps_done,
	               collector->steps);
}

static void report_removed(const struct collector *collector, const char *ref,
                           const struct tkb_digest *digest, uint64_t size)
{
	const struct tkb_remote_gc_options *options = collector->options;

	if (options->on_removed != NULL)
		options->on_removed(options->self, ref, digest, size);
}

static int drop(struct collector *collector, const char *ref,
                const struct tkb_digest *digest, uint64_t size,
                struct tkb_error *err)
{
	int rc = 0;

	if (!collector->options->is_dry_run)
		rc = tkb_remote_drop(collector->remote, ref, digest, err);
	if (rc < 0)
		return rc;
	report_removed(collector, ref, digest, size);
	return 0;
}

static int add_item(struct collector *collector, const char *ref,
                    const struct tkb_record *record, struct tkb_error *err)
{
	const struct item item = { .ref = ref,
		                   .digest = record->digest,
		                   .blob = record->blob,
		                   .age_s = record->age_s };

	return tkb_append(&collector->items, &collector->item_count,
	                  &collector->item_capacity, &item, sizeof(item), err);
}

/* Drop records that are too old, and remove them and holes from the list. */
static int drop_expired(struct collector *collector, const char *ref,
                        struct tkb_record_list *records, struct tkb_error *err)
{
	const struct tkb_remote_gc_options *options = collector->options;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < records->count; i++) {
		struct tkb_record *record = &records->items[i];
		const bool is_old = options->has_max_age &&
		                    record->age_s > options->max_age_s;

		if (rc < 0 || !(record->is_hole || is_old)) {
			records->items[kept++] = *record;
			continue;
		}
		if (record->is_hole)
			report_removed(collector, ref, &record->digest,
			               record->size);
		else
			rc = drop(collector, ref, &record->digest, record->size,
			          err);
		collector->report.hole_count += record->is_hole;
		collector->report.expired_count += !record->is_hole;
		tkb_record_release(record);
	}
	records->count = kept;
	return rc;
}

static bool wants_compaction(const struct collector *collector,
                             const struct tkb_record_list *records)
{
	return !collector->options->is_compaction_off &&
	       !collector->options->is_dry_run &&
	       records->count > TKB_RECORDS_LIMIT;
}

static void report_fault(struct collector *collector, const char *ref,
                         const struct tkb_record_fault *fault)
{
	const struct tkb_remote_gc_options *options = collector->options;
	const struct tkb_remote_fault told = {
		.trouble = fault->trouble == TKB_RECORD_UNREAD
		                   ? TKB_REMOTE_TROUBLE_UNREAD
		           : fault->trouble == TKB_RECORD_NEWER
		                   ? TKB_REMOTE_TROUBLE_NEWER
		                   : TKB_REMOTE_TROUBLE_DAMAGED,
		.ref = ref,
		.digest = &fault->digest,
		.message = fault->message,
	};

	if (options->on_fault != NULL)
		options->on_fault(options->self, &told);
	if (collector->fault.status != 0)
		return;
	if (fault->trouble == TKB_RECORD_UNREAD)
		(void)tkb_fail(&collector->fault,
		               (enum tkb_status)fault->status,
		               "nothing is removed, for ref '%s' has records "
		               "that cannot be read: %s",
		               ref, fault->message);
	else
		(void)tkb_fail(&collector->fault, TKB_ERR_UNSUPPORTED,
		               "nothing is removed, for ref '%s' has records "
		               "that this tkbundle cannot read: %s",
		               ref, fault->message);
}

/*
 * A damaged record is useless to everybody; after any other fault, somebody may
 * be able to read it.
 */
static void note_faults(struct collector *collector, const char *ref,
                        const struct tkb_record_list *records)
{
	for (size_t i = 0; i < records->fault_count; i++) {
		if (records->faults[i].trouble != TKB_RECORD_DAMAGED)
			report_fault(collector, ref, &records->faults[i]);
		else
			collector->has_lost_name = true;
	}
}

static int check_faults(const struct collector *collector,
                        struct tkb_error *err)
{
	const struct tkb_error *fault = &collector->fault;

	return fault->status != 0 ? tkb_fail_as(err, fault->status, fault) : 0;
}

static int read_ref(struct collector *collector, const char *ref,
                    struct tkb_record_list *out, struct tkb_error *err)
{
	int rc;

	rc = tkb_watch_check(collector->options->watch, err);
	if (rc == 0)
		rc = tkb_record_list_read(collector->remote, ref, true, out,
		                          err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "ref '%s'", ref);
	note_faults(collector, ref, out);
	return 0;
}

/* Fail, before anything is changed, if a record of any ref cannot be read. */
static int check_refs(struct collector *collector, struct tkb_error *err)
{
	for (size_t i = 0; i < collector->refs.count; i++) {
		TKB_AUTO(tkb_record_list_release)
		struct tkb_record_list records = { 0 };
		int rc;

		rc = read_ref(collector, collector->refs.items[i], &records,
		              err);
		if (rc < 0)
			return rc;
		count_step(collector);
	}
	return check_faults(collector, err);
}

static uint64_t grace_of(const struct collector *collector)
{
	return collector->options->has_grace ? collector->options->grace_s
	                                     : GRACE_S;
}

/* Drop the ref's signatures whose record is none of `records`. */
static int prune_envelopes(struct collector *collector, const char *ref,
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
	if (rc < 0 || tkb_fleet_tier(collector->remote) == NULL)
		return rc;
	return tkb_envelopes_prune(collector->remote, ref, living,
	                           records->count, grace_of(collector),
	                           collector->options->is_dry_run,
	                           &collector->report.envelope_count, err);
}

static bool has_name(const struct tkb_ref_names *names, const char *name)
{
	return names->count > 0 &&
	       bsearch(&name, names->items, names->count, sizeof(*names->items),
	               tkb_compare_texts) != NULL;
}

static bool is_signed(const struct collector *collector, const char *ref)
{
	char name[sizeof(TKB_SIGNED_PREFIX) + TKB_REF_SIZE];

	(void)snprintf(name, sizeof(name), TKB_SIGNED_PREFIX "%s", ref);
	return has_name(&collector->signed_refs, name);
}

/* Drop the signatures of refs that have no record. */
static int prune_orphans(struct collector *collector, struct tkb_error *err)
{
	static const struct tkb_record_list none = { .count = 0 };
	const struct tkb_ref_names *names = &collector->signed_refs;
	int rc = 0;

	for (size_t i = 0; i < names->count && rc == 0; i++) {
		const char *ref = names->items[i] + strlen(TKB_SIGNED_PREFIX);

		if (!has_name(&collector->refs, ref))
			rc = prune_envelopes(collector, ref, &none, err);
	}
	return rc;
}

static int clean_ref(struct collector *collector, const char *ref,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };
	uint64_t damaged = 0;
	int rc;

	rc = read_ref(collector, ref, &records, err);
	if (rc == 0)
		rc = check_faults(collector, err);
	if (rc < 0)
		return rc;
	collector->report.record_count += records.count;
	if (!collector->options->is_dry_run)
		rc = tkb_records_drop_damaged(collector->remote, ref, &records,
		                              &damaged, err);
	if (rc < 0)
		return rc;
	collector->report.hole_count += damaged;
	rc = tkb_records_check(collector->remote, &records, false, err);
	if (rc == 0 && !collector->options->is_dry_run)
		rc = tkb_records_drop_holes(collector->remote, ref, &records,
		                            err);
	if (rc == 0)
		rc = drop_expired(collector, ref, &records, err);
	if (rc == 0 && wants_compaction(collector, &records)) {
		for (size_t i = 0; i < records.count && rc == 0; i++)
			rc = tkb_digests_add(&collector->compacted,
			                     &records.items[i].blob, err);
		if (rc == 0)
			rc = tkb_compact(collector->remote, ref, &records, NULL,
			                 &collector->report.compacted_count,
			                 err);
		tkb_record_list_release(&records);
		if (rc == 0)
			rc = read_ref(collector, ref, &records, err);
		if (rc == 0)
			rc = check_faults(collector, err);
	}
	for (size_t i = 0; i < records.count && rc == 0; i++)
		rc = add_item(collector, ref, &records.items[i], err);
	if (rc == 0 && is_signed(collector, ref))
		rc = prune_envelopes(collector, ref, &records, err);
	return rc;
}

static int add_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                    uint64_t age_s, struct tkb_error *err)
{
	const struct stored blob = { *digest, size, age_s };
	struct collector *collector = self;

	return tkb_append(&collector->blobs, &collector->blob_count,
	                  &collector->blob_capacity, &blob, sizeof(blob), err);
}

/* The least recently used first. */
static int compare_items(const void *a, const void *b)
{
	const struct item *left = a;
	const struct item *right = b;

	if (left->age_s != right->age_s)
		return left->age_s > right->age_s ? -1 : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

static struct stored *find_blob(const struct collector *collector,
                                const struct tkb_digest *digest)
{
	return bsearch(digest, collector->blobs, collector->blob_count,
	               sizeof(*collector->blobs), tkb_compare_digests);
}

/* Does a record from `first` on name the blob? */
static bool is_named(const struct collector *collector, size_t first,
                     const struct tkb_digest *digest)
{
	for (size_t i = first; i < collector->item_count; i++) {
		if (tkb_digest_equal(&collector->items[i].blob, digest))
			return true;
	}
	return false;
}

static int remove_blob(struct collector *collector, size_t tier,
                       const struct stored *blob, struct tkb_error *err)
{
	int rc = 0;

	if (!collector->options->is_dry_run)
		rc = tkb_remote_remove(collector->remote, tier, &blob->digest,
		                       err);
	if (rc < 0)
		return rc;
	collector->report.removed_count++;
	collector->report.removed_size += blob->size;
	report_removed(collector, NULL, &blob->digest, blob->size);
	return 0;
}

static int list_blobs(struct collector *collector, size_t tier,
                      struct tkb_error *err)
{
	const struct tkb_blob_visitor visitor = { add_blob, collector };
	int rc;

	collector->blob_count = 0;
	rc = tkb_remote_list(collector->remote, tier, &visitor, err);
	if (rc == 0 && collector->blob_count > 1)
		qsort(collector->blobs, collector->blob_count,
		      sizeof(*collector->blobs), tkb_compare_digests);
	return rc;
}

/*
 * Remove blobs that no record names and that are old enough. `*named_out` is the
 * size of those that are named: only they count for eviction, since the young
 * ones without a name are removed on another day.
 */
static int remove_unnamed(struct collector *collector, size_t tier,
                          uint64_t *named_out, struct tkb_error *err)
{
	const uint64_t grace_s = grace_of(collector);
	uint64_t named = 0;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < collector->blob_count && rc == 0; i++) {
		const struct stored *blob = &collector->blobs[i];
		const bool has_name = is_named(collector, 0, &blob->digest);

		rc = tkb_watch_check(collector->options->watch, err);
		count_step(collector);
		if (rc == 0 && blob->age_s >= grace_s && !has_name &&
		    !collector->has_lost_name &&
		    !tkb_digests_have(&collector->compacted, &blob->digest)) {
			rc = remove_blob(collector, tier, blob, err);
			continue;
		}
		named += has_name ? blob->size : 0;
		collector->report.kept_size += blob->size;
		collector->blobs[kept++] = *blob;
	}
	collector->blob_count = kept;
	*named_out = named;
	return rc;
}

/* Drop the least recently used records until the tier is small enough. */
static int evict(struct collector *collector, size_t tier, uint64_t size,
                 struct tkb_error *err)
{
	const struct tkb_remote_gc_options *options = collector->options;
	struct item *items = collector->items;
	size_t next = 0;
	size_t kept = 0;
	int rc = 0;

	while (next < collector->item_count && rc == 0 &&
	       size > options->max_size) {
		const struct item item = items[next++];
		struct stored *blob = find_blob(collector, &item.blob);

		rc = tkb_watch_check(collector->options->watch, err);
		if (rc < 0 || blob == NULL) {
			items[kept++] = item; /* of another tier */
			continue;
		}
		rc = drop(collector, item.ref, &item.digest, blob->size, err);
		collector->report.evicted_count++;
		if (rc < 0 || is_named(collector, next, &item.blob))
			continue;
		rc = remove_blob(collector, tier, blob, err);
		size -= blob->size;
		collector->report.kept_size -= blob->size;
		blob->size = 0;
	}
	if (next != kept)
		memmove(items + kept, items + next,
		        (collector->item_count - next) * sizeof(*items));
	collector->item_count -= next - kept;
	return rc;
}

static int clean_tier(struct collector *collector, size_t tier,
                      struct tkb_error *err)
{
	const uint64_t removed = collector->report.removed_count;
	size_t listed;
	uint64_t named = 0;
	int rc;

	rc = list_blobs(collector, tier, err);
	listed = collector->blob_count;
	collector->steps += listed;
	if (rc == 0)
		rc = remove_unnamed(collector, tier, &named, err);
	if (rc == 0 && collector->options->has_max_size)
		rc = evict(collector, tier, named, err);
	collector->report.kept_count +=
		listed - (collector->report.removed_count - removed);
	return rc;
}

static int clean(struct collector *collector, struct tkb_error *err)
{
	const struct tkb_ref_names *refs = &collector->refs;
	bool has_tier = false;
	int rc;

	rc = tkb_remote_ref_names(collector->remote, true, &collector->refs,
	                          err);
	collector->signed_refs.prefix = TKB_SIGNED_PREFIX;
	if (rc == 0)
		rc = tkb_remote_ref_names(collector->remote, true,
		                          &collector->signed_refs, err);
	collector->report.ref_count = refs->count;
	collector->steps = 2 * refs->count;
	if (rc == 0)
		rc = check_refs(collector, err);
	for (size_t i = 0; i < refs->count && rc == 0; i++) {
		rc = clean_ref(collector, refs->items[i], err);
		count_step(collector);
	}
	if (rc == 0)
		rc = prune_orphans(collector, err);
	tkb_digests_sort(&collector->compacted);
	if (rc == 0 && collector->item_count > 1)
		qsort(collector->items, collector->item_count,
		      sizeof(*collector->items), compare_items);
	for (size_t i = 0; i < collector->remote->tier_count && rc == 0; i++) {
		if (collector->remote->tiers[i].is_read_only)
			continue;
		has_tier = true;
		rc = clean_tier(collector, i, err);
	}
	if (rc == 0 && has_tier)
		rc = tkb_starts_prune(collector->remote,
		                      collector->options->is_dry_run,
		                      &collector->report.start_count, err);
	if (rc == 0 && !has_tier)
		rc = tkb_fail(err, TKB_ERR_DENIED, "no remote may be written");
	return rc;
}

int tkb_remote_gc(struct tkb_remote *remote,
                  const struct tkb_remote_gc_options *options,
                  struct tkb_remote_gc_report *report, struct tkb_error *err)
{
	TKB_AUTO(collector_close)
	struct collector collector = { .remote = remote };
	TKB_AUTO(tkb_remote_detach_watch)
	struct tkb_remote_attachment attachment = { 0 };
	struct tkb_remote_gc_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_remote_gc_options, self, &chosen, options,
	                     err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_remote_gc_report, kept_size, report,
		                      err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!chosen.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_remote_gc_report, report,
		                 &collector.report);
		return 0;
	}
	chosen.watch = &timed.watch;
	collector.options = &chosen;
	tkb_remote_attach_watch(&attachment, remote, &timed.watch);
	rc = clean(&collector, err);
	if (rc == 0)
		TKB_STRUCT_WRITE(tkb_remote_gc_report, report,
		                 &collector.report);
	return tkb_timed_end(&timed, rc, err);
}
