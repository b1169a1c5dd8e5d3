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

/* Has the record an origin? Only if a policy was applied to it. */
static bool has_origin(const struct tkb_pull_plan *plan, size_t index)
{
	return plan->request.records->items[index].origin.count != 0 &&
	       tkb_pull_plan_uses(plan, index);
}

static int note_origins(const struct tkb_pull_plan *plan, const char *root,
                        struct tkb_error *err)
{
	const struct tkb_record_list *records = plan->request.records;
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_origin *origins =
		tkb_arena_alloc(&arena, records->count, sizeof(*origins));
	size_t count = 0;

	if (origins == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];
		const char **keys;

		if (!has_origin(plan, i))
			continue;
		keys = tkb_arena_alloc(&arena, record->entry_count,
		                       sizeof(*keys));
		if (keys == NULL)
			return tkb_fail_nomem(err);
		for (size_t k = 0; k < record->entry_count; k++)
			keys[k] = record->entries[k].key;
		origins[count++] =
			(struct tkb_origin){ record->origin.items,
			                     record->origin.count, keys,
			                     record->entry_count };
	}
	if (count == 0)
		return 0;
	return tkb_origins_note(root, origins, count, NULL) == TKB_ERR_NOMEM
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
	return rc == 0 ? note_origins(plan, root, err) : rc;
}
