/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/records.h"

#include <stdlib.h>

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
