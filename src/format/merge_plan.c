/* SPDX-License-Identifier: Apache-2.0 */
#include "format/merge_plan.h"

#include <stdlib.h>

#include "cache/names.h"
#include "format/launcher_payload.h"

void tkb_merge_plan_release(struct tkb_merge_plan *plan)
{
	tkb_arena_release(&plan->arena);
	free(plan->items);
	free(plan->firsts);
	free(plan->launchers);
	free(plan->merged);
	free(plan->frames);
	free(plan->sources);
}

static struct tkb_version version_of_item(const struct tkb_merge_plan *plan,
                                          size_t bundle, size_t item)
{
	const struct tkb_merge_versions *versions = plan->versions;
	const struct tkb_version *version =
		versions == NULL ? NULL
				 : versions->find(versions->self, bundle, item);

	return version == NULL ? (struct tkb_version){ .changed_ms = 0 }
	                       : *version;
}

static int list_merge_items(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->bundle_count; i++)
		count += plan->bundles[i]->manifest.item_count;
	plan->items = tkb_alloc_array(count, sizeof(*plan->items));
	plan->firsts =
		tkb_alloc_array(plan->bundle_count, sizeof(*plan->firsts));
	if (plan->items == NULL || plan->firsts == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < plan->bundle_count; i++) {
		const struct tkb_manifest *manifest =
			&plan->bundles[i]->manifest;

		plan->firsts[i] = plan->item_count;
		for (size_t j = 0; j < manifest->item_count; j++)
			plan->items[plan->item_count++] =
				(struct tkb_merge_item){
					.bundle = i,
					.item = j,
					.version = version_of_item(plan, i, j),
					.entry = manifest->entries[j],
				};
	}
	return 0;
}

static bool is_payload(const struct tkb_merge_item *item)
{
	return item->entry.kind == TKB_KIND_PAYLOAD;
}

/*
 * Payloads come last. Items with the same destination are neighbours: the
 * newest version first, and of one version, the earliest bundle's.
 */
static int compare_claims(const void *a, const void *b)
{
	const struct tkb_merge_item *const *left = a;
	const struct tkb_merge_item *const *right = b;
	int order = (int)is_payload(*left) - (int)is_payload(*right);

	if (order == 0)
		order = strcmp((*left)->entry.key, (*right)->entry.key);
	if (order == 0)
		order = strcmp((*left)->entry.platform,
		               (*right)->entry.platform);
	if (order == 0)
		order = tkb_version_compare(&(*right)->version,
		                            &(*left)->version);
	if (order == 0)
		order = (*left > *right) - (*left < *right);
	return order;
}

static bool has_same_destination(const struct tkb_merge_item *a,
                                 const struct tkb_merge_item *b)
{
	return is_payload(a) == is_payload(b) &&
	       strcmp(a->entry.key, b->entry.key) == 0 &&
	       strcmp(a->entry.platform, b->entry.platform) == 0;
}

/* The items with one destination, and the devices that are taken so far. */
struct contest {
	struct tkb_merge_item **items;
	size_t count;
	bool is_taken[TKB_DEVICE_LIMIT];
};

/*
 * Write the devices of `entry` that are not taken yet to `out`, and return
 * their number.
 */
static size_t free_devices(const struct contest *contest,
                           const struct tkb_entry *entry, uint32_t *out)
{
	size_t count = 0;

	for (size_t i = 0; i < entry->device_count; i++) {
		if (!contest->is_taken[entry->devices[i]])
			out[count++] = entry->devices[i];
	}
	return count;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *left = a;
	const uint32_t *right = b;

	return (*left > *right) - (*left < *right);
}

/* Give `item` the devices `added`; with `keep`, in addition to its own. */
static int set_devices(struct tkb_merge_plan *plan, struct tkb_merge_item *item,
                       bool keep, const uint32_t *added, size_t added_count,
                       struct tkb_error *err)
{
	const size_t kept = keep ? item->entry.device_count : 0;
	uint32_t *devices = tkb_arena_alloc(&plan->arena, kept + added_count,
	                                    sizeof(*devices));

	if (devices == NULL)
		return tkb_fail_nomem(err);
	memcpy(devices, item->entry.devices, kept * sizeof(*devices));
	memcpy(devices + kept, added, added_count * sizeof(*devices));
	qsort(devices, kept + added_count, sizeof(*devices), compare_numbers);
	item->entry.devices = devices;
	item->entry.device_count = kept + added_count;
	item->is_changed = true;
	return 0;
}

static struct tkb_merge_item *find_equal(const struct contest *contest,
                                         const struct tkb_merge_item *item)
{
	for (size_t i = 0; i < contest->count; i++) {
		struct tkb_merge_item *other = contest->items[i];

		if (other == item)
			break;
		if (other->counts &&
		    tkb_entry_has_same_files(&other->entry, &item->entry))
			return other;
	}
	return NULL;
}

/* Decide whether an item is used, and for which devices. */
static int decide_item(struct tkb_merge_plan *plan, struct contest *contest,
                       struct tkb_merge_item *item, struct tkb_error *err)
{
	const size_t had = item->entry.device_count;
	uint32_t devices[TKB_DEVICE_LIMIT];
	const size_t count = free_devices(contest, &item->entry, devices);
	struct tkb_merge_item *equal = find_equal(contest, item);

	for (size_t i = 0; i < count; i++)
		contest->is_taken[devices[i]] = true;
	if (count == 0)
		return 0;
	if (equal != NULL)
		return set_devices(plan, equal, true, devices, count, err);
	item->counts = true;
	if (count == had)
		return 0;
	return set_devices(plan, item, false, devices, count, err);
}

static int decide_items(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_merge_item **sorted =
		tkb_alloc_array(plan->item_count, sizeof(*sorted));
	size_t end;
	int rc;

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < plan->item_count; i++)
		sorted[i] = &plan->items[i];
	qsort(sorted, plan->item_count, sizeof(*sorted), compare_claims);
	for (size_t i = 0; i < plan->item_count; i = end) {
		struct contest contest = { .items = sorted + i };

		end = i + 1;
		while (end < plan->item_count &&
		       has_same_destination(sorted[i], sorted[end]))
			end++;
		contest.count = end - i;
		for (size_t j = i; j < end; j++) {
			rc = decide_item(plan, &contest, sorted[j], err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* Sorted by cache key, then by bundle: the earliest launcher is used. */
struct claimant {
	const struct tkb_saved_launcher *launcher;
	size_t number;
};

static int compare_claimants(const void *a, const void *b)
{
	const struct claimant *left = a;
	const struct claimant *right = b;
	const int order =
		strcmp(left->launcher->cache_key, right->launcher->cache_key);

	if (order != 0)
		return order;
	return (left->number > right->number) - (left->number < right->number);
}

static int merge_launchers(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct claimant *claimants = NULL;
	size_t total = 0;
	size_t count = 0;

	for (size_t i = 0; i < plan->bundle_count; i++)
		total += plan->bundles[i]->manifest.launcher_count;
	claimants = tkb_alloc_array(total, sizeof(*claimants));
	plan->launchers = tkb_alloc_array(total, sizeof(*plan->launchers));
	if (claimants == NULL || plan->launchers == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < plan->bundle_count; i++) {
		const struct tkb_manifest *manifest =
			&plan->bundles[i]->manifest;

		for (size_t j = 0; j < manifest->launcher_count; j++) {
			claimants[count] =
				(struct claimant){ &manifest->launchers[j],
				                   count };
			count++;
		}
	}
	qsort(claimants, count, sizeof(*claimants), compare_claimants);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(claimants[i - 1].launcher->cache_key,
		                     claimants[i].launcher->cache_key) != 0)
			plan->launchers[plan->launcher_count++] =
				*claimants[i].launcher;
	}
	return 0;
}

/* The payload with this digest among the `wanted` ones, or NULL. */
static const struct tkb_file *find_payload(const struct tkb_entry *wanted,
                                           size_t count,
                                           const struct tkb_digest *digest)
{
	const size_t found = tkb_payload_find(wanted, count, digest);

	return found == count ? NULL : wanted[found].files;
}

/* Drop the payloads of launchers that were not chosen. */
static int drop_payloads(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	struct tkb_entry *wanted = NULL;
	size_t count = 0;
	int rc;

	rc = tkb_payload_items(plan->launchers, plan->launcher_count,
	                       &plan->arena, &wanted, &count, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < plan->item_count; i++) {
		struct tkb_merge_item *item = &plan->items[i];
		const struct tkb_file *file = &item->entry.files[0];
		const struct tkb_file *found;

		if (!is_payload(item) || !item->counts)
			continue;
		found = find_payload(wanted, count, &file->digest);
		if (found != NULL && found->size != file->size)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "the bundles have one payload with two "
			                "sizes");
		item->counts = found != NULL;
	}
	return 0;
}

static int compare_merged(const void *a, const void *b)
{
	const struct tkb_merge_item *const *left = a;
	const struct tkb_merge_item *const *right = b;

	return tkb_entry_compare(&(*left)->entry, &(*right)->entry);
}

/* Sort the items that are used. */
static int order_items(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_merge_item **sorted =
		tkb_alloc_array(plan->item_count, sizeof(*sorted));
	size_t count = 0;

	plan->merged = tkb_alloc_array(plan->item_count, sizeof(*plan->merged));
	if (sorted == NULL || plan->merged == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < plan->item_count; i++) {
		if (plan->items[i].counts)
			sorted[count++] = &plan->items[i];
	}
	qsort(sorted, count, sizeof(*sorted), compare_merged);
	for (size_t i = 0; i < count; i++) {
		sorted[i]->place = i;
		plan->merged[i] = &sorted[i]->entry;
		plan->entry_count += !is_payload(sorted[i]);
	}
	return 0;
}

/* Copy frame `index` of bundle `bundle`, unless none of its items is used. */
static int plan_frame(struct tkb_merge_plan *plan, size_t bundle, size_t index,
                      struct tkb_error *err)
{
	const struct tkb_frame *frame = &plan->bundles[bundle]->frames[index];
	struct tkb_frame copy = *frame;
	uint32_t *places = tkb_arena_alloc(&plan->arena, frame->entry_count,
	                                   sizeof(*places));

	if (places == NULL)
		return tkb_fail_nomem(err);
	copy.entry_count = 0;
	for (size_t i = 0; i < frame->entry_count; i++) {
		const struct tkb_merge_item *item =
			&plan->items[plan->firsts[bundle] + frame->entries[i]];

		if (item->counts)
			places[copy.entry_count++] = (uint32_t)item->place;
		else
			copy.unused_count += item->entry.file_count;
		copy.is_mixed |= !item->counts || item->is_changed;
	}
	if (copy.entry_count == 0)
		return 0;
	qsort(places, copy.entry_count, sizeof(*places), compare_numbers);
	copy.entries = places;
	plan->frames[plan->frame_count] = copy;
	plan->sources[plan->frame_count] =
		(struct tkb_merge_frame){ bundle, index };
	plan->frame_count++;
	return 0;
}

static int plan_frames(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	size_t total = 0;
	int rc;

	for (size_t i = 0; i < plan->bundle_count; i++)
		total += plan->bundles[i]->frame_count;
	plan->frames = tkb_alloc_array(total, sizeof(*plan->frames));
	plan->sources = tkb_alloc_array(total, sizeof(*plan->sources));
	if (plan->frames == NULL || plan->sources == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < plan->bundle_count; i++) {
		for (size_t j = 0; j < plan->bundles[i]->frame_count; j++) {
			rc = plan_frame(plan, i, j, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int tkb_merge_plan_make(struct tkb_merge_plan *plan, struct tkb_error *err)
{
	int (*const steps[])(struct tkb_merge_plan *, struct tkb_error *) = {
		list_merge_items, decide_items,  tkb_merge_drop_nested,
		merge_launchers,  drop_payloads, order_items,
		plan_frames,
	};
	int rc = 0;

	for (size_t i = 0; i < TKB_COUNT_OF(steps) && rc == 0; i++)
		rc = steps[i](plan, err);
	return rc;
}
