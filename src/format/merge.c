/* SPDX-License-Identifier: Apache-2.0 */
#include "format/merge_plan.h"

#include "base/draft.h"
#include "base/struct.h"
#include "format/bundle_write.h"
#include "cache/watch.h"

struct merger {
	struct tkb_merge_plan plan;
	struct tkb_watcher watcher;
	struct tkb_hasher hasher;
	struct tkb_buf packed;
};

static void merger_close(struct merger *merger)
{
	tkb_merge_plan_release(&merger->plan);
	tkb_watcher_release(&merger->watcher);
	tkb_hasher_close(&merger->hasher);
	tkb_buf_release(&merger->packed);
}

static int send_frame(void *self, size_t index, const struct tkb_sink *sink,
                      struct tkb_error *err)
{
	struct merger *merger = self;
	const struct tkb_merge_frame *source = &merger->plan.sources[index];
	const struct tkb_bundle *bundle = merger->plan.bundles[source->bundle];
	int rc;

	rc = tkb_watcher_check(&merger->watcher, err);
	if (rc < 0)
		return rc;
	rc = tkb_frame_read(bundle, &bundle->frames[source->frame],
	                    &merger->hasher, &merger->packed, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s', frame %zu", bundle->name,
		                      source->frame);
	tkb_watcher_progress(&merger->watcher, merger->packed.size);
	return sink->write(sink->self, tkb_buf_bytes(&merger->packed), err);
}

/* Refuse bundles whose end is damaged: entries may be missing unnoticed. */
static int check_bundles(const struct tkb_bundle *const *bundles, size_t count,
                         struct tkb_error *err)
{
	if (count == 0)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no bundle");
	for (size_t i = 0; i < count; i++) {
		if (bundles[i]->fault.status == 0)
			continue;
		return tkb_fail_as(err, TKB_ERR_CORRUPT, &bundles[i]->fault);
	}
	return 0;
}

static const char *profile_of(const struct tkb_merge_plan *plan)
{
	for (size_t i = 0; i < plan->bundle_count; i++) {
		if (strcmp(plan->bundles[i]->manifest.profile, "full") != 0)
			return "lean";
	}
	return "full";
}

/* A bundle that has only trees has no kernels. */
static bool has_kernels(const struct tkb_bundle *bundle)
{
	return bundle->manifest.entry_count != 0 &&
	       bundle->manifest.entries[0].kind != TKB_KIND_UNIT;
}

/* The layout of all bundles that have kernels, or NULL. */
static const char *layout_of(const struct tkb_merge_plan *plan)
{
	const char *layout = NULL;

	for (size_t i = 0; i < plan->bundle_count; i++) {
		if (!has_kernels(plan->bundles[i]))
			continue;
		if (plan->bundles[i]->manifest.layout == NULL)
			return NULL;
		layout = plan->bundles[i]->manifest.layout;
	}
	return layout;
}

static void fill_report(const struct tkb_merge_plan *plan,
                        struct tkb_merge_report *report)
{
	report->entry_count = plan->entry_count;
	report->launcher_count = plan->launcher_count;
	report->frame_count = plan->frame_count;
	for (size_t i = 0; i < plan->entry_count; i++)
		report->size += tkb_entry_size(plan->merged[i]);
	for (size_t i = 0; i < plan->bundle_count; i++)
		report->skipped_count += plan->bundles[i]->manifest.entry_count;
	report->skipped_count -= plan->entry_count;
	for (size_t i = 0; i < plan->frame_count; i++) {
		const struct tkb_merge_frame *source = &plan->sources[i];
		const struct tkb_frame *frame =
			&plan->bundles[source->bundle]->frames[source->frame];

		for (size_t j = 0; j < frame->entry_count; j++) {
			const struct tkb_merge_item *item =
				&plan->items[plan->firsts[source->bundle] +
			                     frame->entries[j]];

			if (!item->counts)
				report->unused_size +=
					tkb_entry_size(&item->entry);
		}
	}
}

static void tell_results(struct merger *merger)
{
	const struct tkb_merge_plan *plan = &merger->plan;

	for (size_t i = 0; i < plan->item_count; i++) {
		const struct tkb_merge_item *item = &plan->items[i];
		const struct tkb_bundle *bundle = plan->bundles[item->bundle];
		const struct tkb_result result = {
			.root = "",
			.key = item->entry.key,
			.name = item->entry.name,
			.outcome = item->counts ? TKB_OUTCOME_COLLECTED
			                        : TKB_OUTCOME_SKIPPED,
			.reason = item->counts ? TKB_REASON_NONE
			                       : TKB_REASON_TWIN,
			.message =
				item->counts ? ""
				: item->is_nested
					? "an earlier bundle holds a unit that "
					  "is inside it, or that it is in"
					: "an earlier bundle holds it",
		};

		if (item->item < bundle->manifest.entry_count)
			tkb_watcher_result(&merger->watcher, &result);
	}
}

static int write_merged(struct merger *merger, const struct tkb_sink *sink,
                        struct tkb_merge_report *report, struct tkb_error *err)
{
	const struct tkb_merge_plan *plan = &merger->plan;
	const struct tkb_outline outline = {
		.contents = { .entries = plan->merged,
		              .entry_count = plan->entry_count,
		              .launchers = plan->launchers,
		              .launcher_count = plan->launcher_count,
		              .profile = profile_of(plan),
		              .layout = layout_of(plan) },
		.frames = plan->frames,
		.frame_count = plan->frame_count,
		.send_frame = send_frame,
		.self = merger,
	};

	fill_report(plan, report);
	for (size_t i = 0; i < plan->frame_count; i++)
		merger->watcher.total += plan->frames[i].packed_size;
	return tkb_bundle_write(&outline, sink, &report->id,
	                        &report->bundle_size, err);
}

int tkb_merge_newest(const struct tkb_bundle *const *bundles, size_t count,
                     const struct tkb_merge_versions *versions,
                     const struct tkb_merge_options *options,
                     const struct tkb_sink *sink,
                     struct tkb_merge_report *report, struct tkb_error *err)
{
	struct tkb_merge_options chosen;
	TKB_AUTO(merger_close)
	struct merger merger = {
		.plan = { .bundles = bundles,
		          .bundle_count = count,
		          .versions = versions },
		.packed = TKB_BUF_INIT(TKB_FRAME_PACKED_LIMIT),
	};
	struct tkb_merge_report own = { 0 };
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_merge_options, watch, &chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_merge_report, bundle_size, report,
		                      err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	tkb_watcher_init(&merger.watcher, &timed.watch, 0);
	if (sink == NULL)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no sink");
	rc = check_bundles(bundles, count, err);
	if (rc == 0)
		rc = tkb_hasher_open(&merger.hasher, err);
	if (rc == 0)
		rc = tkb_merge_plan_make(&merger.plan, err);
	if (rc == 0)
		rc = write_merged(&merger, sink, &own, err);
	if (rc < 0)
		return tkb_timed_end(&timed, rc, err);
	tell_results(&merger);
	TKB_STRUCT_WRITE(tkb_merge_report, report, &own);
	return 0;
}

int tkb_merge(const struct tkb_bundle *const *bundles, size_t count,
              const struct tkb_merge_options *options,
              const struct tkb_sink *sink, struct tkb_merge_report *report,
              struct tkb_error *err)
{
	return tkb_merge_newest(bundles, count, NULL, options, sink, report,
	                        err);
}

int tkb_merge_to_file(const struct tkb_bundle *const *bundles, size_t count,
                      const struct tkb_merge_options *options, const char *path,
                      struct tkb_merge_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	struct tkb_merge_report own = { .struct_size = sizeof(own) };
	struct tkb_sink sink;
	int rc;

	rc = TKB_STRUCT_CHECK(tkb_merge_report, bundle_size, report, err);
	if (rc < 0)
		return rc;
	rc = tkb_draft_open(path, &draft, err);
	if (rc < 0)
		return rc;
	sink = tkb_draft_sink(draft);
	rc = tkb_merge(bundles, count, options, &sink, &own, err);
	if (rc < 0)
		return rc;
	rc = tkb_draft_publish(draft, err);
	if (rc == 0)
		TKB_STRUCT_WRITE(tkb_merge_report, report, &own);
	return rc;
}
