/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/pull_plan.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "emit/inspect.h"
#include "emit/stage.h"

/* Is bundle `id` marked as trusted in the root? */
static bool is_marked(const struct tkb_root *root, const struct tkb_digest *id)
{
	struct tkb_stage stage;
	bool answer;

	tkb_stage_init(&stage, root);
	tkb_stage_begin(&stage, id, false);
	answer = stage.is_trusted;
	tkb_stage_close(&stage);
	return answer;
}

/*
 * Trust the record's places in a root where its bundle is marked as complete.
 */
static void trust_places(const struct tkb_pull_plan *plan,
                         const struct tkb_record *record,
                         const struct tkb_root *root)
{
	struct tkb_pull_walk walk = { .plan = plan, .record = record };

	while (tkb_pull_walk_next(&walk)) {
		if (walk.place != NULL &&
		    tkb_pull_plan_root(plan, walk.entry->tree, walk.device) ==
		            root)
			walk.place->is_trusted = true;
	}
}

static void find_trusted(const struct tkb_pull_plan *plan)
{
	const struct tkb_record_list *records = plan->request.records;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];

		for (size_t j = 0; j < plan->roots.count; j++) {
			const struct tkb_root *root = &plan->roots.items[j];

			if (is_marked(root, &record->bundle))
				trust_places(plan, record, root);
		}
	}
}

/*
 * Is there a complete entry, of any kind that the records name? If one record
 * has the wrong kind, that of another still counts.
 */
static int find_intact(struct tkb_loader *loader, const struct tkb_root *root,
                       const struct tkb_pull_place *place, bool *is_intact,
                       struct tkb_error *err)
{
	static const enum tkb_kind kinds[] = { TKB_KIND_KERNEL, TKB_KIND_MODULE,
		                               TKB_KIND_AUTOTUNE };

	*is_intact = false;
	for (size_t i = 0; i < TKB_COUNT_OF(kinds) && !*is_intact; i++) {
		enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
		struct tkb_error fault = { 0 };
		int rc;

		if ((place->kinds & 1U << kinds[i]) == 0)
			continue;
		tkb_arena_release(&loader->arena);
		rc = tkb_inspect_entry(loader, root, place->key, kinds[i],
		                       place->is_trusted, &state, &fault);
		if (rc == TKB_ERR_NOMEM)
			return tkb_fail_nomem(err);
		*is_intact = rc == 0 && state == TKB_ENTRY_STATE_PRESENT;
	}
	return 0;
}

/*
 * Inspect place `index`; if that fails, leave it to the emit, which reports the
 * failure.
 */
static int inspect_place(void *self, size_t worker, size_t index,
                         struct tkb_error *err)
{
	struct tkb_pull_plan *plan = self;
	struct tkb_pull_place *place = &plan->places[index];
	const struct tkb_root *root =
		tkb_pull_plan_root(plan, place->tree, place->device);
	struct stat status;
	bool is_intact = false;
	bool is_stale = false;
	int rc = 0;

	place->is_present = false;
	place->is_coming = false;
	if (root == NULL)
		return 0;
	/* Only the bundle lists a unit's files: see pull_check.c. */
	if (place->tree != NULL)
		is_intact = fstatat(root->fd,
		                    tkb_unit_names_here(root->names,
		                                        place->name, &is_stale),
		                    &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		            !is_stale;
	else
		rc = find_intact(&plan->loaders[worker], root, place,
		                 &is_intact, err);
	place->is_present = is_intact && (place->is_trusted || !place->is_bad);
	return rc;
}

int tkb_pull_plan_inspect(struct tkb_pull_plan *plan, struct tkb_error *err)
{
	const struct tkb_emit_options *options = plan->request.options;
	const struct tkb_parallel_work work = { inspect_place, plan };
	int rc = 0;

	free(plan->named);
	plan->named = NULL;
	tkb_roots_release(&plan->roots);
	if (plan->request.cache_root != NULL)
		rc = tkb_roots_open(plan->request.cache_root, &plan->roots,
		                    err);
	if (rc < 0)
		return rc;
	/* Trees are inspected even if there is no cache yet. */
	rc = tkb_roots_add_trees(options->trees, options->tree_count, false,
	                         &plan->roots, &plan->named, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < plan->loader_count; i++) {
		plan->loaders[i].named = plan->named;
		plan->loaders[i].named_count = options->tree_count;
	}
	find_trusted(plan);
	return tkb_parallel(plan->place_count, plan->loader_count, &work, err);
}

void tkb_pull_plan_clean(const struct tkb_pull_plan *plan)
{
	static const struct tkb_digest none = { { 0 } };

	for (size_t i = 0; i < plan->roots.count; i++) {
		struct tkb_stage stage;

		tkb_stage_init(&stage, &plan->roots.items[i]);
		tkb_stage_begin(&stage, &none, true);
		tkb_stage_close(&stage);
	}
}
