/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/pull_plan.h"

#include <string.h>

#include "base/clock.h"
#include "cache/elf.h"
#include "cache/watch.h"
#include "emit/inspect.h"
#include "emit/stage.h"
#include "fleet/peek.h"
#include "remote/tier.h"

/* Does the record have an entry that is present but not verified? */
static bool is_unchecked(const struct tkb_pull_plan *plan,
                         const struct tkb_record *record)
{
	struct tkb_pull_walk walk = { .plan = plan, .record = record };

	while (tkb_pull_walk_next(&walk)) {
		if (walk.place != NULL && walk.place->is_present &&
		    !walk.place->is_trusted)
			return true;
	}
	return false;
}

/* Compare the entry at `place` with `entry` of the record's bundle. */
static int check_place(struct tkb_pull_plan *plan, struct tkb_pull_place *place,
                       const struct tkb_entry *entry, struct tkb_error *err)
{
	enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
	struct tkb_error fault = { 0 };
	int rc;

	if (place == NULL || !place->is_present || place->is_trusted)
		return 0;
	tkb_arena_release(&plan->loaders[0].arena);
	rc = tkb_inspect_destination(
		&plan->loaders[0],
		tkb_pull_plan_root(plan, place->tree, place->device), entry,
		false, &state, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	place->is_present = rc == 0 && state == TKB_ENTRY_STATE_PRESENT;
	place->is_trusted = place->is_present;
	place->is_bad = !place->is_present;
	return 0;
}

static int check_record(struct tkb_pull_plan *plan,
                        const struct tkb_remote *remote,
                        const struct tkb_record *record,
                        const struct tkb_bundle *bundle, struct tkb_error *err)
{
	struct tkb_pull_walk walk = { .plan = plan, .record = record };
	int rc = 0;

	while (rc == 0 && tkb_pull_walk_next(&walk)) {
		/* A record lists its bundle's entries in the bundle's order. */
		const size_t index = walk.entry_count - 1;

		rc = tkb_watch_check(&remote->watch, err);
		if (rc == 0 && !tkb_pull_is_old(walk.place, walk.entry) &&
		    index < tkb_bundle_entry_count(bundle) &&
		    strcmp(tkb_bundle_entry(bundle, index)->key,
		           walk.entry->key) == 0)
			rc = check_place(plan, walk.place,
			                 tkb_bundle_entry(bundle, index), err);
	}
	return rc;
}

/* Is every entry that the record has for this root written or verified? */
static bool is_whole(const struct tkb_pull_plan *plan,
                     const struct tkb_record *record,
                     const struct tkb_root *root)
{
	struct tkb_pull_walk walk = { .plan = plan, .record = record };

	while (tkb_pull_walk_next(&walk)) {
		/*
		 * Other entries go to another root, or do not fit this machine.
		 */
		if (tkb_pull_plan_root(plan, walk.entry->tree, walk.device) ==
		            root &&
		    tkb_platform_fits(walk.entry->platform, &plan->here) &&
		    (walk.place == NULL || !walk.place->is_trusted))
			return false;
	}
	return true;
}

/*
 * Mark the bundle in each root where all its entries for that root are
 * complete.
 */
static void mark_whole(const struct tkb_pull_plan *plan,
                       const struct tkb_record *record)
{
	for (size_t i = 0; i < plan->roots.count; i++) {
		const struct tkb_root *root = &plan->roots.items[i];
		struct tkb_stage stage;

		if (root->fd < 0 || !is_whole(plan, record, root))
			continue;
		tkb_stage_init(&stage, root);
		tkb_stage_begin(&stage, &record->bundle, false);
		tkb_stage_trust(&stage, &record->bundle);
		tkb_stage_close(&stage);
	}
}

/*
 * Check present entries; those of a record that is fetched anyway are left to
 * its emit.
 */
static int check_records(struct tkb_pull_plan *plan, struct tkb_remote *remote,
                         struct tkb_error *err)
{
	const struct tkb_record_list *records = plan->request.records;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];
		struct tkb_bundle *bundle = NULL;
		struct tkb_error fault = { 0 };
		int rc;

		if (tkb_pull_plan_weigh(plan, i, true).missing_count != 0 ||
		    !is_unchecked(plan, record))
			continue;
		rc = tkb_remote_peek(remote, record, &bundle, &fault);
		if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED)
			return tkb_fail_as(err, rc, &fault);
		if (rc != 0)
			continue; /* what looks complete counts as complete */
		rc = check_record(plan, remote, record, bundle, err);
		tkb_bundle_close(bundle);
		if (rc < 0)
			return rc;
		if (!plan->request.options->is_dry_run)
			mark_whole(plan, record);
	}
	return 0;
}

static bool is_over(void *self)
{
	const uint64_t *end_ns = self;

	return tkb_now_ns() >= *end_ns;
}

int tkb_pull_plan_check(struct tkb_pull_plan *plan, struct tkb_remote *remote,
                        uint32_t limit_ms, struct tkb_error *err)
{
	uint64_t end_ns = tkb_now_ns() + limit_ms * TKB_NS_PER_MS;
	const struct tkb_watch brief = { .struct_size = sizeof(brief),
		                         .self = &end_ns,
		                         .is_cancelled = is_over };
	struct tkb_remote_attachment attachment = { 0 };
	TKB_AUTO(tkb_free_at)
	bool *was_unreachable =
		tkb_alloc_array(remote->tier_count, sizeof(*was_unreachable));
	int rc;

	if (was_unreachable == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < remote->tier_count; i++)
		was_unreachable[i] = remote->tiers[i].is_unreachable;
	tkb_remote_attach_watch(&attachment, remote, &brief);
	rc = check_records(plan, remote, err);
	tkb_remote_detach_watch(&attachment);
	/*
	 * A tier that did not answer this check may still have missing entries.
	 */
	for (size_t i = 0; i < remote->tier_count; i++)
		remote->tiers[i].is_unreachable = was_unreachable[i];
	for (size_t i = 0; i < plan->place_count; i++)
		plan->places[i].is_coming = false;
	return rc;
}
