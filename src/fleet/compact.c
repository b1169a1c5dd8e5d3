/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/compact.h"

#include "base/digest.h"
#include "format/reader.h"
#include "fleet/prefetch.h"
#include "fleet/push_session.h"

enum {
	CONNECTIONS = 4,
	/*
	 * A bundle above this size is copied only if it is at most twice as
	 * large as all smaller ones together. So each byte is copied only a few
	 * times, however many pushes there are.
	 */
	SMALL = 16 * 1024 * 1024
};

/* Records that are merged into one: `count` from `first` on. */
struct group {
	struct tkb_record *first;
	size_t count;
};

/* Full bundles before lean ones, each by size. */
static int compare_records(const void *a, const void *b)
{
	const struct tkb_record *left = a;
	const struct tkb_record *right = b;

	if (left->is_lean != right->is_lean)
		return left->is_lean ? 1 : -1;
	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

/* The group that begins with number `first`. */
static struct group group_at(const struct tkb_record_list *records,
                             size_t first, uint64_t limit)
{
	struct group group = { &records->items[first], 1 };
	uint64_t size = group.first->size;

	while (first + group.count < records->count) {
		const struct tkb_record *next = &group.first[group.count];

		if (next->is_lean != group.first->is_lean || size > limit ||
		    next->size > limit - size ||
		    (next->size > SMALL && next->size / 2 > size))
			break;
		size += next->size;
		group.count++;
	}
	return group;
}

static int drop_parts(struct tkb_remote *remote, tkb_tier_set tiers,
                      const char *ref, const struct tkb_gathering *parts,
                      const struct tkb_digest *made, struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < parts->count; i++) {
		if (tkb_digest_equal(&parts->records[i]->digest, made))
			continue; /* one record has everything that the
			             others have */
		rc = tkb_remote_drop_in(remote, tiers, ref,
		                        &parts->records[i]->digest, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int gather_facts(const struct tkb_gathering *parts,
                        struct tkb_times *times, struct tkb_versions *versions,
                        struct tkb_pushes *pushes, struct tkb_makers *makers,
                        struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < parts->count && rc == 0; i++) {
		rc = tkb_record_add_times(parts->records[i], times, err);
		if (rc == 0)
			rc = tkb_record_add_versions(parts->records[i],
			                             versions, err);
		if (rc == 0)
			rc = tkb_record_add_pushes(parts->records[i], pushes,
			                           err);
		if (rc == 0)
			rc = tkb_record_add_makers(parts->records[i], makers,
			                           err);
	}
	tkb_pushes_sort(pushes);
	tkb_key_notes_sort(&makers->notes);
	tkb_key_notes_sort(&times->notes);
	return rc;
}

static int compact_group(struct tkb_remote *remote, const char *ref,
                         const struct group *group,
                         const struct tkb_signer *signer, uint64_t *count,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_gathering_close) struct tkb_gathering parts = { 0 };
	TKB_AUTO(tkb_times_release) struct tkb_times times = { 0 };
	TKB_AUTO(tkb_versions_release) struct tkb_versions versions = { 0 };
	TKB_AUTO(tkb_pushes_release) struct tkb_pushes pushes = { 0 };
	TKB_AUTO(tkb_makers_release) struct tkb_makers makers = { 0 };
	const struct tkb_record_facts facts = { &times, &versions, &pushes,
		                                &makers, signer };
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer =
		TKB_BLOB_BUFFER_INIT(remote->max_blob_size);
	const struct tkb_sink sink = tkb_blob_buffer_sink(&buffer);
	struct tkb_digest made;
	struct tkb_uptake uptake = { .is_divisible = true };
	int rc;

	rc = tkb_gather(&parts, remote, group->first, group->count, CONNECTIONS,
	                true, err);
	if (rc < 0 || parts.count < 2)
		return rc;
	rc = tkb_gathering_merge(&parts, NULL, &sink, err);
	/* The fetchers use the remote, so close them first. */
	tkb_prefetch_close(tkb_take(parts.prefetch));
	if (rc == 0)
		rc = gather_facts(&parts, &times, &versions, &pushes, &makers,
		                  err);
	if (rc == 0)
		rc = tkb_push_blob(remote, ref, &buffer, &facts, NULL, &made,
		                   &uptake, err);
	if (rc == TKB_ERR_CORRUPT || rc == TKB_ERR_TOO_LARGE)
		return 0; /* leave these records alone */
	if (rc == 0)
		rc = drop_parts(remote, uptake.tiers, ref, &parts, &made, err);
	if (rc == 0)
		*count += parts.count;
	return rc;
}

int tkb_compact(struct tkb_remote *remote, const char *ref,
                struct tkb_record_list *records,
                const struct tkb_signer *signer, uint64_t *count,
                struct tkb_error *err)
{
	int rc;

	rc = signer != NULL
	             ? tkb_records_keep_alone(records, signer, ref, err)
	             : tkb_records_keep_unsigned(remote, ref, records, err);
	if (rc == 0)
		rc = tkb_records_drop_revoked(remote, records, err);
	tkb_sort(records->items, records->count, sizeof(*records->items),
	         compare_records);
	for (size_t i = 0; i < records->count && rc == 0;) {
		const struct group group =
			group_at(records, i, tkb_remote_part_size(remote));

		if (group.count > 1)
			rc = compact_group(remote, ref, &group, signer, count,
			                   err);
		i += group.count;
	}
	return rc;
}

int tkb_compact_after_push(struct tkb_remote *remote, const char *ref,
                           const struct tkb_signer *signer,
                           struct tkb_push_report *report,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };
	int rc;

	if (report->blob_count == 0 ||
	    report->record_count + report->blob_count <= TKB_RECORDS_LIMIT)
		return 0;
	rc = tkb_record_list_read(remote, ref, false, &records, err);
	if (rc == 0 && records.count > TKB_RECORDS_LIMIT)
		rc = tkb_compact(remote, ref, &records, signer,
		                 &report->compacted_count, err);
	return rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED ? rc : 0;
}
