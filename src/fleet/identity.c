/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/identity.h"

#include <stdlib.h>
#include <string.h>

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
	if (made.count > 1)
		qsort(made.items, made.count, sizeof(*made.items),
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
