/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/collect.h"

#include <libgen.h>

#include "base/disable.h"
#include "base/draft.h"
#include "base/struct.h"
#include "format/bundle_write.h"
#include "format/frame.h"

struct collector {
	const struct tkb_collect_options *options;
	const struct tkb_collect_selection *selection; /* NULL: everything */
	struct tkb_cache *cache;                       /* owned */
	struct tkb_watcher watcher;
	struct tkb_pack pack;
};

static void collector_close(struct collector *collector)
{
	tkb_pack_close(&collector->pack);
	tkb_cache_close(collector->cache);
	tkb_watcher_release(&collector->watcher);
}

static int write_bundle(struct collector *collector,
                        const struct tkb_sink *sink,
                        struct tkb_collect_report *report,
                        struct tkb_error *err)
{
	struct tkb_pack *pack = &collector->pack;
	const bool is_lean = collector->options->profile == TKB_PROFILE_LEAN;
	const bool is_inductor =
		collector->cache->roots.is_inductor &&
		collector->cache->found_count != 0 &&
		collector->cache->found[0].entry.kind != TKB_KIND_UNIT;
	const struct tkb_outline outline = {
		.contents = { .entries = pack->items,
		              .entry_count = collector->cache->found_count,
		              .launchers = pack->launchers,
		              .launcher_count = pack->launcher_count,
		              .profile = is_lean ? "lean" : "full",
		              .layout = is_inductor ? "inductor" : NULL },
		.frames = pack->frames,
		.frame_count = pack->frame_count,
		.level = pack->level,
		.send_frame = tkb_pack_send,
		.self = pack,
	};

	return tkb_bundle_write(&outline, sink, &report->id,
	                        &report->bundle_size, err);
}

static void fill_report(const struct collector *collector,
                        struct tkb_collect_report *report)
{
	const struct tkb_cache *cache = collector->cache;

	report->is_inductor = cache->roots.is_inductor;
	report->collected_count = cache->found_count;
	report->left_out_count = cache->left_out_count;
	report->unfinished_count = cache->unfinished_count;
	report->stray_count = cache->stray_count;
	report->launcher_count = collector->pack.launcher_count;
	report->dropped_count = collector->pack.dropped_count;
	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_scanned_entry *found = &cache->found[i];

		report->moved_count += found->is_moved;
		report->file_count += found->entry.file_count;
		report->size += tkb_entry_size(&found->entry);
	}
}

static void report_unfinished(struct collector *collector)
{
	const struct tkb_cache *cache = collector->cache;

	for (size_t i = 0; i < cache->unit_count; i++) {
		const struct tkb_unit_place *unit = &cache->units[i];
		const struct tkb_result result = {
			.root = cache->roots.items[unit->root].path,
			.key = unit->path,
			.name = "",
			.outcome = TKB_OUTCOME_UNFINISHED,
			.message = "its index is missing, or it has no file"
		};

		if (unit->is_unfinished)
			tkb_watcher_result(&collector->watcher, &result);
	}
}

static void report_entries(struct collector *collector)
{
	const struct tkb_cache *cache = collector->cache;

	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_scanned_entry *found = &cache->found[i];
		const struct tkb_result result = {
			.root = found->root->path,
			.key = found->entry.key,
			.name = found->entry.name,
			.outcome = TKB_OUTCOME_COLLECTED,
			.message = found->is_moved && found->entry.kind ==
			                                      TKB_KIND_UNIT
			                   ? "it names another place than "
			                     "where it lies"
			                   : ""
		};

		tkb_watcher_result(&collector->watcher, &result);
	}
	for (size_t i = 0; i < cache->left_out_count; i++) {
		const struct tkb_result result = tkb_left_out_result(
			&cache->left_out[i], TKB_OUTCOME_LEFT_OUT);

		tkb_watcher_result(&collector->watcher, &result);
	}
	report_unfinished(collector);
}

static void report_launcher(struct collector *collector,
                            const struct tkb_saved_launcher *launcher,
                            bool is_dropped)
{
	const struct tkb_result result = {
		.root = "",
		.key = launcher->cache_key,
		.name = launcher->name,
		.is_launcher = true,
		.outcome = is_dropped ? TKB_OUTCOME_LEFT_OUT
		                      : TKB_OUTCOME_COLLECTED,
		.reason = is_dropped ? TKB_REASON_NEEDS : TKB_REASON_NONE,
		.message = is_dropped ? "what it needs is not collected" : "",
	};

	tkb_watcher_result(&collector->watcher, &result);
}

static void report_results(struct collector *collector)
{
	const struct tkb_pack *pack = &collector->pack;

	report_entries(collector);
	for (size_t i = 0; i < pack->launcher_count; i++)
		report_launcher(collector, &pack->launchers[i], false);
	for (size_t i = 0; i < pack->dropped_count; i++)
		report_launcher(collector, &pack->dropped[i]->saved, true);
}

struct tkb_cache_options tkb_collect_cache_options(
	const struct tkb_collect_options *options)
{
	return (struct tkb_cache_options){
		.struct_size = sizeof(struct tkb_cache_options),
		.keys = options->keys,
		.key_count = options->key_count,
		.has_device = options->has_device,
		.device = options->device,
		.is_kernels_only = options->is_kernels_only,
		.is_lean = options->profile == TKB_PROFILE_LEAN,
		.is_stripped = options->is_stripped,
		.threads = options->threads,
		.watch = options->watch,
		.trees = options->trees,
		.tree_count = options->tree_count,
		.settle_ms = options->settle_ms,
	};
}

static int open_cache(struct collector *collector, const char *cache_root,
                      struct tkb_error *err)
{
	const struct tkb_collect_options *options = collector->options;
	const struct tkb_collect_selection *selection = collector->selection;
	const struct tkb_cache_options cache_options =
		tkb_collect_cache_options(options);
	const struct tkb_scan scan = {
		.options = &cache_options,
		.picks = selection == NULL ? NULL : selection->picks,
		.pick_count = selection == NULL ? 0 : selection->pick_count,
	};

	if (selection == NULL || selection->pick_count != 0)
		return tkb_cache_scan(cache_root, &scan, &collector->cache,
		                      err);
	collector->cache = tkb_alloc_array(1, sizeof(*collector->cache));
	return collector->cache == NULL ? tkb_fail_nomem(err) : 0;
}

/* A strict collect fails if something is left out. */
static int check_left_out(const struct tkb_collect_report *report,
                          struct tkb_error *err)
{
	const uint64_t count = report->left_out_count + report->dropped_count;

	if (count == 0)
		return 0;
	return tkb_fail(err, TKB_ERR_LEFT_OUT,
	                count == 1 ? "%llu entry would be left out"
	                           : "%llu entries would be left out",
	                (unsigned long long)count);
}

int tkb_collect_options_read(struct tkb_collect_options *out,
                             const struct tkb_collect_options *given,
                             const struct tkb_collect_report *report,
                             struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_collect_options, level, out, given, err);
	if (rc == 0 && (out->level < TKB_FRAME_LEVEL_LEAST ||
	                out->level > TKB_FRAME_LEVEL_MOST))
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              "a level of compression is %d to %d, not %d",
		              TKB_FRAME_LEVEL_LEAST, TKB_FRAME_LEVEL_MOST,
		              (int)out->level);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_collect_report, bundle_size, report,
		                      err);
	return rc;
}

int tkb_collect_read(struct tkb_collect_options *out,
                     const struct tkb_collect_options *given,
                     const struct tkb_collect_target *to,
                     const struct tkb_collect_report *report,
                     struct tkb_error *err)
{
	const int rc = tkb_collect_options_read(out, given, report, err);

	if (rc == 0 && to->sink == NULL && to->path == NULL && !out->is_dry_run)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no sink");
	return rc;
}

/*
 * Collect from a cache. `folder` is for the temporary file of a large bundle,
 * which waits there until the header is known; NULL is $TMPDIR.
 */
static int collect_cache(const char *cache_root,
                         const struct tkb_collect_options *options,
                         const struct tkb_collect_selection *selection,
                         const struct tkb_sink *sink, const char *folder,
                         struct tkb_collect_report *report,
                         struct tkb_error *err)
{
	TKB_AUTO(collector_close)
	struct collector collector = { .options = options,
		                       .selection = selection };
	int rc;

	tkb_watcher_init(&collector.watcher, options->watch, 0);
	tkb_pack_init(&collector.pack, &collector.watcher, folder);
	rc = open_cache(&collector, cache_root, err);
	if (rc != 0)
		return rc;
	collector.pack.cache = collector.cache;
	collector.pack.is_dry_run = options->is_dry_run;
	collector.pack.level = options->level;
	if (selection != NULL) {
		collector.pack.savings = selection->savings;
		collector.pack.saving_count = selection->saving_count;
	}
	rc = tkb_pack(&collector.pack, err);
	if (rc < 0)
		return rc;

	fill_report(&collector, report);
	report_results(&collector);
	rc = options->is_strict ? check_left_out(report, err) : 0;
	if (rc == 0)
		rc = write_bundle(&collector, sink, report, err);
	return rc == 0 ? tkb_partial(&collector.watcher.first, err) : rc;
}

static int collect_to_file(const char *cache_root,
                           const struct tkb_collect_options *options,
                           const struct tkb_collect_selection *selection,
                           const char *path, struct tkb_collect_report *report,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	TKB_AUTO(tkb_free_at) char *copy = strdup(path);
	struct tkb_sink sink;
	int published;
	int rc;

	if (copy == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_draft_open(path, &draft, err);
	if (rc < 0)
		return rc;
	sink = tkb_draft_sink(draft);
	/* The folder of a special file, such as /dev, is none for files. */
	rc = collect_cache(cache_root, options, selection, &sink,
	                   tkb_draft_fd(draft) < 0 ? NULL : dirname(copy),
	                   report, err);
	published = tkb_is_done(rc) ? tkb_draft_publish(draft, err) : 0;
	return published < 0 ? published : rc;
}

int tkb_collect_selected(const char *cache_root,
                         const struct tkb_collect_options *options,
                         const struct tkb_collect_selection *selection,
                         const struct tkb_collect_target *to,
                         struct tkb_collect_report *report,
                         struct tkb_error *err)
{
	struct tkb_collect_report own = { 0 };
	struct tkb_collect_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = tkb_timed_begin(&timed, options->watch, options->deadline_ms, err);
	if (rc < 0)
		return rc;
	chosen = *options;
	chosen.watch = &timed.watch;
	if (to->path != NULL && !options->is_dry_run)
		rc = collect_to_file(cache_root, &chosen, selection, to->path,
		                     &own, err);
	else
		rc = collect_cache(cache_root, &chosen, selection,
		                   options->is_dry_run ? NULL : to->sink, NULL,
		                   &own, err);
	rc = tkb_timed_end(&timed, rc, err);
	if (tkb_is_done(rc) || rc == TKB_ERR_LEFT_OUT)
		TKB_STRUCT_WRITE(tkb_collect_report, report, &own);
	return rc;
}

/* Collect everything. If tkbundle is disabled, the report is all zeros. */
static int collect_all(const char *cache_root,
                       const struct tkb_collect_options *options,
                       const struct tkb_collect_target *to,
                       struct tkb_collect_report *report, struct tkb_error *err)
{
	static const struct tkb_collect_report nothing = { 0 };
	struct tkb_collect_options chosen;
	int rc;

	rc = tkb_collect_read(&chosen, options, to, report, err);
	if (rc != 0)
		return rc;
	if (chosen.is_enabled || !tkb_is_disabled())
		return tkb_collect_selected(cache_root, &chosen, NULL, to,
		                            report, err);
	TKB_STRUCT_WRITE(tkb_collect_report, report, &nothing);
	return 0;
}

int tkb_collect(const char *cache_root,
                const struct tkb_collect_options *options,
                const struct tkb_sink *sink, struct tkb_collect_report *report,
                struct tkb_error *err)
{
	const struct tkb_collect_target to = { .sink = sink };

	return collect_all(cache_root, options, &to, report, err);
}

int tkb_collect_to_file(const char *cache_root,
                        const struct tkb_collect_options *options,
                        const char *path, struct tkb_collect_report *report,
                        struct tkb_error *err)
{
	const struct tkb_collect_target to = { .path = path };

	return collect_all(cache_root, options, &to, report, err);
}
