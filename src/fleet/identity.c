/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/identity.h"

#include <stdlib.h>
#include <string.h>

void tkb_identities_release(struct tkb_identities *identities)
{
	free(identities->items);
	*identities = (struct tkb_identities){ 0 };
}

static int compare(const void *a, const void *b)
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

static void add_record(struct tkb_identities *identities,
                       const struct tkb_record *record)
{
	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];

		for (size_t j = 0; j < entry->device_count; j++)
			identities->items[identities->count++] =
				(struct tkb_identity){ entry->key,
				                       entry->platform,
				                       entry->devices[j] };
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
	size_t kept = 0;

	for (size_t i = 0; i < identities->count; i++) {
		if (kept == 0 || compare(&identities->items[kept - 1],
		                         &identities->items[i]) != 0)
			identities->items[kept++] = identities->items[i];
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
		add_record(&made, &records->items[i]);
	if (made.count > 1)
		qsort(made.items, made.count, sizeof(*made.items), compare);
	remove_twins(&made);
	*out = made;
	return 0;
}

bool tkb_identities_have(const struct tkb_identities *identities,
                         const struct tkb_identity *wanted)
{
	return bsearch(wanted, identities->items, identities->count,
	               sizeof(*wanted), compare) != NULL;
}
