/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/records.h"

#include <stdlib.h>

#include "remote/remote.h"

void tkb_record_list_release(struct tkb_record_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tkb_record_release(&list->items[i]);
	free(list->items);
	*list = (struct tkb_record_list){ 0 };
}

static int add(void *self, const struct tkb_digest *digest,
               struct tkb_bytes text, uint64_t age_s, struct tkb_error *err)
{
	struct tkb_record_list *list = self;
	struct tkb_record record = { 0 };
	int rc;

	rc = tkb_grow(&list->items, &list->capacity, list->count,
	              sizeof(record), err);
	if (rc < 0)
		return rc;
	rc = tkb_record_parse(text, &record, err);
	if (rc == TKB_ERR_NOMEM)
		return rc;
	if (rc < 0) {
		list->unreadable_count++;
		return 0;
	}
	record.digest = *digest;
	record.age_s = age_s;
	list->items[list->count++] = record;
	return 0;
}

int tkb_record_list_read(struct tkb_remote *remote, const char *ref,
                         struct tkb_record_list *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list list = { 0 };
	const struct tkb_record_visitor visitor = { add, &list };
	int rc;

	rc = tkb_remote_records(remote, ref, &visitor, err);
	if (rc < 0)
		return rc;
	*out = list;
	list = (struct tkb_record_list){ 0 };
	return 0;
}

/* The tier that the fleet shares, by itself; NULL where nothing may be written. */
static struct tkb_tier *shared_tier(const struct tkb_remote *remote)
{
	for (size_t i = remote->tier_count; i > 0; i--) {
		if (!remote->tiers[i - 1].is_read_only)
			return &remote->tiers[i - 1];
	}
	return NULL;
}

int tkb_records_check(struct tkb_remote *remote, struct tkb_record_list *list,
                      struct tkb_error *err)
{
	struct tkb_tier *tier = shared_tier(remote);
	struct tkb_remote one = { .tiers = tier, .tier_count = 1 };
	TKB_AUTO(tkb_free_at)
	struct tkb_digest *blobs = tkb_alloc_array(list->count, sizeof(*blobs));
	TKB_AUTO(tkb_free_at)
	bool *is_there = tkb_alloc_array(list->count, sizeof(*is_there));
	int rc;

	if (blobs == NULL || is_there == NULL)
		return tkb_fail_nomem(err);
	if (tier == NULL)
		return 0;
	for (size_t i = 0; i < list->count; i++)
		blobs[i] = list->items[i].blob;
	rc = tkb_remote_has(&one, blobs, list->count, is_there, err);
	if (rc < 0 && rc != TKB_ERR_CANCELLED && tier->ignores_errors)
		return 0;
	for (size_t i = 0; i < list->count && rc == 0; i++)
		list->items[i].is_hole = !is_there[i];
	return rc;
}
