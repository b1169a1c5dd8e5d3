/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/holdings.h>

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/struct.h"
#include "cache/entry.h"
#include "cache/watch.h"
#include "fleet/identity.h"
#include "fleet/peek.h"
#include "fleet/pull.h"
#include "records/records.h"
#include "remote/remote.h"

struct tkb_holdings {
	struct tkb_record_list list;
	struct tkb_bundle **bundles;         /* owned; NULL: the blob is gone */
	struct tkb_holdings_record *records; /* owned; one per record */
	struct tkb_holdings_item *items;     /* owned */
	size_t item_count;
	char *ref; /* owned */
	struct tkb_makers makers;
	struct tkb_arena arena;
	uint64_t entry_count; /* each key, platform and device counts once */
};

void tkb_holdings_close(struct tkb_holdings *holdings)
{
	if (holdings == NULL)
		return;
	for (size_t i = 0;
	     holdings->bundles != NULL && i < holdings->list.count; i++)
		tkb_bundle_close(holdings->bundles[i]);
	free(holdings->bundles);
	free(holdings->records);
	free(holdings->items);
	free(holdings->ref);
	tkb_makers_release(&holdings->makers);
	tkb_arena_release(&holdings->arena);
	tkb_record_list_release(&holdings->list);
	free(holdings);
}

TKB_AUTO_POINTER(close_at, struct tkb_holdings, tkb_holdings_close)

size_t tkb_holdings_record_count(const struct tkb_holdings *holdings)
{
	return holdings->list.count;
}

const struct tkb_holdings_record *tkb_holdings_record(
	const struct tkb_holdings *holdings, size_t index)
{
	return &holdings->records[index];
}

const struct tkb_makers *tkb_holdings_makers(
	const struct tkb_holdings *holdings)
{
	return &holdings->makers;
}

size_t tkb_holdings_item_count(const struct tkb_holdings *holdings)
{
	return holdings->item_count;
}

const struct tkb_holdings_item *tkb_holdings_item(
	const struct tkb_holdings *holdings, size_t index)
{
	return &holdings->items[index];
}

/* The targets of a record's entries, without duplicates. */
static int list_targets(struct tkb_arena *arena,
                        const struct tkb_record *record,
                        struct tkb_holdings_record *out, struct tkb_error *err)
{
	struct tkb_target *targets = NULL;
	size_t count = 0;
	size_t capacity = 0;
	int rc = 0;

	for (size_t i = 0; i < record->entry_count && rc == 0; i++) {
		const struct tkb_target *target = &record->entries[i].target;
		size_t k = 0;

		while (k < count && !tkb_target_is_equal(&targets[k], target))
			k++;
		if (k == count && target->backend[0] != '\0')
			rc = tkb_append(&targets, &count, &capacity, target,
			                sizeof(*target), err);
	}
	if (rc == 0 && count > 0) {
		struct tkb_target *kept =
			tkb_arena_alloc(arena, count, sizeof(*kept));

		if (kept != NULL)
			memcpy(kept, targets, count * sizeof(*kept));
		else
			rc = tkb_fail_nomem(err);
		out->targets = kept;
		out->target_count = count;
	}
	free(targets);
	return rc;
}

static int list_records(struct tkb_holdings *holdings, struct tkb_error *err)
{
	const size_t count = holdings->list.count;
	int rc = 0;

	holdings->records = tkb_alloc_array(count, sizeof(*holdings->records));
	if (holdings->records == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct tkb_record *record = &holdings->list.items[i];

		holdings->records[i] = (struct tkb_holdings_record){
			.digest = record->digest,
			.blob = record->blob,
			.size = record->size,
			.age_s = record->age_s,
			.entry_count = record->entry_count,
			.is_lean = record->is_lean,
			.tritons = record->tritons,
			.triton_count = record->triton_count,
			.pushes = record->pushes,
			.push_count = record->push_count,
			.bundle = record->bundle,
		};
		rc = list_targets(&holdings->arena, record,
		                  &holdings->records[i], err);
		if (rc == 0)
			rc = tkb_record_add_makers(record, &holdings->makers,
			                           err);
	}
	tkb_key_notes_sort(&holdings->makers.notes);
	return rc;
}

/* Read the manifests of all blobs that exist. */
static int read_manifests(struct tkb_holdings *holdings,
                          struct tkb_remote *remote,
                          const struct tkb_watch *watch, struct tkb_error *err)
{
	const size_t count = holdings->list.count;

	holdings->bundles = tkb_alloc_array(count, sizeof(*holdings->bundles));
	if (holdings->bundles == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int rc;

		rc = tkb_watch_check(watch, err);
		if (rc == 0)
			rc = tkb_remote_peek(remote, &holdings->list.items[i],
			                     &holdings->bundles[i], err);
		if (rc < 0)
			return rc;
		holdings->records[i].is_gone = rc == TKB_MISS;
		if (rc == 0)
			holdings->records[i].frame_count =
				tkb_bundle_frame_count(holdings->bundles[i]);
		tkb_watch_tell(watch, i + 1, count);
	}
	return 0;
}

/*
 * A record lists its entries in the order of its bundle. A record from outside
 * may list fewer; the other entries have no version.
 */
static const struct tkb_version *recorded_version(
	const struct tkb_holdings_item *item, const struct tkb_holdings *of)
{
	static const struct tkb_version none = { .changed_ms = 0 };
	const struct tkb_record *record = &of->list.items[item->record];
	const struct tkb_entry *first =
		tkb_bundle_entry(of->bundles[item->record], 0);
	const size_t index = (size_t)(item->entry - first);

	return index < record->entry_count ? &record->entries[index].version
	                                   : &none;
}

static bool has_same_devices(const struct tkb_entry *a,
                             const struct tkb_entry *b)
{
	return a->device_count == b->device_count &&
	       memcmp(a->devices, b->devices,
	              a->device_count * sizeof(*a->devices)) == 0;
}

/* Are both the same entry, perhaps in different versions? */
static bool is_twin(const struct tkb_holdings_item *a,
                    const struct tkb_holdings_item *b)
{
	return strcmp(a->entry->key, b->entry->key) == 0 &&
	       strcmp(a->entry->platform, b->entry->platform) == 0 &&
	       has_same_devices(a->entry, b->entry);
}

static int compare_holdings_items(const void *a, const void *b)
{
	const struct tkb_holdings_item *left = a;
	const struct tkb_holdings_item *right = b;
	const int order = tkb_entry_compare(left->entry, right->entry);

	return order != 0 ? order
	                  : (left->record > right->record) -
	                            (left->record < right->record);
}

/*
 * Keep each entry once: its newest version or, if that is the same, the first
 * record's.
 */
static void remove_twins(struct tkb_holdings *holdings)
{
	size_t kept = 0;

	for (size_t i = 0; i < holdings->item_count; i++) {
		const struct tkb_holdings_item *item = &holdings->items[i];
		struct tkb_holdings_item *last =
			kept > 0 ? &holdings->items[kept - 1] : NULL;

		if (last == NULL || !is_twin(last, item))
			holdings->items[kept++] = *item;
		else if (tkb_version_compare(recorded_version(item, holdings),
		                             recorded_version(last, holdings)) >
		         0)
			*last = *item;
	}
	holdings->item_count = kept;
}

static int list_holdings_items(struct tkb_holdings *holdings,
                               struct tkb_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < holdings->list.count; i++) {
		if (holdings->bundles[i] != NULL)
			count += tkb_bundle_entry_count(holdings->bundles[i]);
	}
	holdings->items = tkb_alloc_array(count, sizeof(*holdings->items));
	if (holdings->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < holdings->list.count; i++) {
		const struct tkb_record *record = &holdings->list.items[i];
		const struct tkb_bundle *bundle = holdings->bundles[i];

		for (size_t k = 0;
		     bundle != NULL && k < tkb_bundle_entry_count(bundle); k++)
			holdings->items[holdings->item_count++] =
				(struct tkb_holdings_item){
					.entry = tkb_bundle_entry(bundle, k),
					.record = i,
					.time_ms = k < record->time_count
				                           ? record->times[k]
				                           : 0,
				};
	}
	tkb_sort(holdings->items, holdings->item_count,
	         sizeof(*holdings->items), compare_holdings_items);
	remove_twins(holdings);
	return 0;
}

/* Return TKB_ERR_PARTIAL if the items lack a record or blob. */
static int find_lost(const struct tkb_holdings *holdings, const char *ref,
                     struct tkb_error *err)
{
	const struct tkb_record_fault *fault = tkb_pull_fault(&holdings->list);
	struct tkb_error first = { 0 };

	if (fault != NULL)
		(void)tkb_fail(&first, TKB_ERR_PARTIAL, "%s", fault->message);
	if (holdings->list.untrusted_count != 0)
		(void)tkb_fail(&first, TKB_ERR_PARTIAL, "%s",
		               holdings->list.untrusted.message);
	for (size_t i = 0; i < holdings->list.count; i++) {
		if (holdings->records[i].is_gone)
			tkb_pull_note_gone(&first, ref);
	}
	return tkb_partial(&first, err);
}

/*
 * Read the records. A brief call tolerates records that cannot be read, even if
 * none can.
 */
static int read_records(struct tkb_holdings *holdings,
                        struct tkb_remote *remote, bool is_brief,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_identities_release)
	struct tkb_identities identities = { 0 };
	struct tkb_pull_report told = { 0 };
	struct tkb_record_list *list = &holdings->list;
	int rc;

	if (is_brief)
		rc = tkb_record_list_read(remote, holdings->ref, false, list,
		                          err);
	else
		rc = tkb_pull_records(remote, holdings->ref, list, &told, err);
	if (rc == 0 && list->count + list->fault_count == 0)
		return TKB_MISS;
	if (rc == 0)
		rc = tkb_identities_list(list, &identities, err);
	holdings->entry_count = identities.entry_count;
	return rc == 0 ? list_records(holdings, err) : rc;
}

void tkb_holdings_info(const struct tkb_holdings *holdings,
                       struct tkb_ref_info *out)
{
	const struct tkb_record_list *list = &holdings->list;
	struct tkb_ref_info info = { .ref = holdings->ref,
		                     .age_s = UINT64_MAX };

	for (size_t i = 0; i < list->count; i++) {
		info.size += list->items[i].size;
		if (list->items[i].age_s < info.age_s)
			info.age_s = list->items[i].age_s;
	}
	info.record_count = list->count + list->fault_count;
	info.unreadable_count = list->fault_count;
	info.entry_count = holdings->entry_count;
	TKB_STRUCT_WRITE(tkb_ref_info, out, &info);
}

static int open_holdings(struct tkb_remote *remote, const char *ref,
                         const struct tkb_holdings_options *options,
                         const struct tkb_watch *watch,
                         struct tkb_holdings **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_remote_detach_watch)
	struct tkb_remote_attachment attachment = { 0 };
	TKB_AUTO(close_at)
	struct tkb_holdings *holdings = calloc(1, sizeof(*holdings));
	int rc;

	if (holdings == NULL)
		return tkb_fail_nomem(err);
	holdings->ref = strdup(ref);
	if (holdings->ref == NULL)
		return tkb_fail_nomem(err);
	tkb_remote_attach_watch(&attachment, remote, watch);
	rc = read_records(holdings, remote, options->is_brief, err);
	if (rc == 0 && !options->is_brief)
		rc = read_manifests(holdings, remote, watch, err);
	if (rc == 0 && !options->is_brief)
		rc = list_holdings_items(holdings, err);
	if (rc != 0)
		return rc;
	if (!options->is_brief)
		rc = find_lost(holdings, ref, err);
	*out = tkb_take(holdings);
	return rc;
}

int tkb_holdings_open(struct tkb_remote *remote, const char *ref,
                      const struct tkb_holdings_options *options,
                      struct tkb_holdings **out, struct tkb_error *err)
{
	struct tkb_holdings_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_holdings_options, watch, &chosen, options,
	                     err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	rc = open_holdings(remote, ref, &chosen, &timed.watch, out, err);
	return tkb_timed_end(&timed, rc, err);
}
