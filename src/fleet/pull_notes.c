/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/pull_plan.h"

#include "collect/origins.h"

static int note_times(const struct tkb_record_list *records, const char *root,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_times_release) struct tkb_times times = { 0 };
	int rc = 0;

	for (size_t i = 0; i < records->count && rc == 0; i++)
		rc = tkb_record_add_times(&records->items[i], &times, err);
	tkb_key_notes_sort(&times.notes);
	if (rc == 0 && times.notes.count != 0)
		rc = tkb_times_store(root, &times, NULL);
	return rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
}

static int note_makers(const struct tkb_record_list *records, const char *root,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_makers_release) struct tkb_makers makers = { 0 };
	int rc = 0;

	for (size_t i = 0; i < records->count && rc == 0; i++)
		rc = tkb_record_add_makers(&records->items[i], &makers, err);
	tkb_key_notes_sort(&makers.notes);
	if (rc == 0 && makers.notes.count != 0)
		rc = tkb_makers_store(root, &makers, NULL);
	return rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
}

/* A record has an origin where a policy was asked about it. */
static int note_origin(const struct tkb_record *record, const char *root,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	const char **keys = tkb_alloc_array(record->entry_count, sizeof(*keys));
	const struct tkb_origin origin = { record->origin.items,
		                           record->origin.count, keys,
		                           record->entry_count };

	if (keys == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < record->entry_count; i++)
		keys[i] = record->entries[i].key;
	return tkb_origins_note(root, &origin, NULL) == TKB_ERR_NOMEM
	               ? tkb_fail_nomem(err)
	               : 0;
}

int tkb_pull_note(const struct tkb_pull_plan *plan, const char *root,
                  struct tkb_error *err)
{
	const struct tkb_record_list *records = plan->request.records;
	int rc;

	rc = note_times(records, root, err);
	if (rc == 0)
		rc = note_makers(records, root, err);
	for (size_t i = 0; i < records->count && rc == 0; i++) {
		if (records->items[i].origin.count != 0 &&
		    tkb_pull_plan_uses(plan, i))
			rc = note_origin(&records->items[i], root, err);
	}
	return rc;
}
