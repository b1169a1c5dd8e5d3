/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/identity.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cache/cache.h"

void tkb_identities_release(struct tkb_identities *identities)
{
	free(identities->items);
	*identities = (struct tkb_identities){ 0 };
}

/* Compare everything except versions. */
static int compare_entries(const void *a, const void *b)
{
	const struct tkb_identity *left = a;
	const struct tkb_identity *right = b;
	int order = strcmp(left->key, right->key);

	if (order == 0)
		order = strcmp(left->platform, right->platform);
	if (order == 0)
		order = (left->device > right->device) -
		        (left->device < right->device);
	return order;
}

/* The newest version of an entry comes first. */
static int compare_identities(const void *a, const void *b)
{
	const struct tkb_identity *left = a;
	const struct tkb_identity *right = b;
	const int order = compare_entries(a, b);

	return order != 0
	               ? order
	               : tkb_version_compare(&right->version, &left->version);
}

static void add_record_entries(struct tkb_identities *identities,
                               const struct tkb_record *record)
{
	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];

		for (size_t j = 0; j < entry->device_count; j++)
			identities->items[identities->count++] =
				(struct tkb_identity){
					.key = entry->key,
					.platform = entry->platform,
					.device = entry->devices[j],
					.version = entry->version
				};
	}
}

static size_t count_all(const struct tkb_record_list *records)
{
	size_t count = 0;

	for (size_t i = 0; i < records->count; i++) {
		for (size_t j = 0; j < records->items[i].entry_count; j++)
			count += records->items[i].entries[j].device_count;
	}
	return count;
}

static void remove_twins(struct tkb_identities *identities)
{
	const struct tkb_identity *last = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < identities->count; i++) {
		const struct tkb_identity *item = &identities->items[i];

		if (last == NULL || compare_entries(last, item) != 0)
			identities->entry_count++;
		else if (compare_identities(last, item) == 0)
			continue;
		identities->items[kept] = *item;
		last = &identities->items[kept++];
	}
	identities->count = kept;
}

int tkb_identities_list(const struct tkb_record_list *records,
                        struct tkb_identities *out, struct tkb_error *err)
{
	struct tkb_identities made = { 0 };

	made.items = tkb_alloc_array(count_all(records), sizeof(*made.items));
	if (made.items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < records->count; i++)
		add_record_entries(&made, &records->items[i]);
	tkb_sort(made.items, made.count, sizeof(*made.items),
	         compare_identities);
	remove_twins(&made);
	*out = made;
	return 0;
}

bool tkb_identities_have(const struct tkb_identities *identities,
                         const struct tkb_identity *wanted)
{
	const struct tkb_version *version = &wanted->version;

	for (size_t i = tkb_lower_bound(wanted, identities->items,
	                                identities->count, sizeof(*wanted),
	                                compare_entries);
	     i < identities->count &&
	     compare_entries(&identities->items[i], wanted) == 0;
	     i++) {
		const struct tkb_version *held = &identities->items[i].version;

		if (held->changed_ms >= version->changed_ms ||
		    tkb_digest_equal(&held->digest, &version->digest))
			return true;
		if (wanted->is_made_again)
			return false;
	}
	return false;
}

static int64_t ms_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

/*
 * When was a file written? One that an engine has made again may have the time
 * of one that it was copied from. And a time to come, which came from a machine
 * whose clock was wrong, would hide all that is written until then.
 */
static uint64_t find_written_ms(const struct tkb_stamp *stamp,
                                bool is_made_again)
{
	const int64_t now = tkb_wall_ns() / (int64_t)TKB_NS_PER_MS;
	const int64_t changed = ms_of(&stamp->changed);
	int64_t ms = ms_of(&stamp->modified);

	if (ms > now || (is_made_again && changed > ms))
		ms = changed;
	if (ms > now)
		ms = now;
	return ms > 0 ? (uint64_t)ms : 0;
}

int tkb_identity_read_version(struct tkb_identity *identity,
                              struct tkb_loader *loader,
                              const struct tkb_scanned_entry *found,
                              struct tkb_error *err)
{
	struct tkb_version *out = &identity->version;
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_scanned_entry_read_all(loader, found, &fault);
	if (rc < 0 && tkb_failure_is_of_entry(rc, &fault))
		return 0;
	if (rc < 0)
		return tkb_fail_as(err, rc, &fault);
	rc = tkb_unit_version_digest(&found->entry, &out->digest, err);
	for (size_t i = 0; i < found->entry.file_count; i++) {
		const uint64_t ms = find_written_ms(&found->loaded[i].stamp,
		                                    identity->is_made_again);

		if (ms > out->changed_ms)
			out->changed_ms = ms;
	}
	return rc;
}
