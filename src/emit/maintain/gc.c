/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/origins.h"
#include "emit/maintain/gc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "emit/maintain/uses.h"
#include "base/clock.h"
#include "base/struct.h"
#include "emit/remove.h"

enum {
	WAIT_MS = 1000, /* for processes that have read a group file */
	ASK_MS = 50     /* between two calls of the watch meanwhile */
};

/*
 * A gc has four steps: sort the entries by their last use; choose the oldest
 * ones for removal, as many as needed; unlink their group files; and one second
 * later remove their other files.
 */

static void gc_close(struct tkb_gc *gc)
{
	tkb_batch_release(&gc->batch);
	free(gc->items);
	free(gc->units);
	free(gc->namings);
	free(gc->trees);
	free(gc->has_times);
	tkb_cache_close(gc->cache);
}

static int scan_for_gc(struct tkb_gc *gc, const char *path,
                       struct tkb_error *err)
{
	const struct tkb_cache_options options = {
		.threads = gc->options->threads,
		.watch = &gc->batch.timed.watch,
		.trees = gc->options->trees,
		.tree_count = gc->options->tree_count,
	};
	const struct tkb_scan scan = { .options = &options,
		                       .keeps_apart = true };
	int rc;

	rc = tkb_cache_scan(path, &scan, &gc->cache, err);
	if (rc != 0)
		return rc;
	return tkb_roots_exist(&gc->cache->roots) ? 0 : TKB_MISS;
}

static int find_times(struct tkb_gc *gc, struct tkb_error *err)
{
	const struct tkb_roots *roots = &gc->cache->roots;

	gc->has_times = tkb_alloc_array(roots->count, sizeof(*gc->has_times));
	if (gc->has_times == NULL)
		return tkb_fail_nomem(err);
	gc->report.is_inductor = roots->is_inductor;
	gc->report.has_uses = tkb_use_find_times(roots, gc->has_times);
	return 0;
}

static int fail_gc_job(struct tkb_gc *gc, size_t index, int rc,
                       const struct tkb_error *fault, struct tkb_error *err)
{
	return tkb_batch_fail(&gc->batch, &gc->batch.jobs[index],
	                      fault->reason == TKB_REASON_BUSY
	                              ? TKB_OUTCOME_SKIPPED
	                              : TKB_OUTCOME_FAILED,
	                      rc, fault, err);
}

static void finish_removed(struct tkb_gc *gc, size_t index)
{
	tkb_batch_done(&gc->batch, &gc->batch.jobs[index], TKB_OUTCOME_REMOVED);
}

/* Fail with the reason "busy" if the item was used since it was sorted. */
static int check_unused(const struct tkb_gc *gc, const struct tkb_gc_item *item,
                        struct tkb_error *err)
{
	struct tkb_use use = { 0 };
	int rc;

	rc = tkb_gc_look(gc, item, &use, err);
	if (rc != 0)
		return rc;
	if (use.used_ns != item->use.used_ns)
		return tkb_fail_entry(err, TKB_REASON_BUSY,
		                      "it was used just now");
	return 0;
}

static int hide(struct tkb_gc *gc, size_t index, struct tkb_loader *loader,
                struct tkb_error *err)
{
	const struct tkb_gc_item *item = &gc->items[index];
	const bool is_unit = item->found->entry.kind == TKB_KIND_UNIT;

	if (gc->options->is_dry_run)
		return is_unit ? tkb_gc_check_unit(gc, item, loader, err)
		               : tkb_remove_check(loader, item->found, err);
	return is_unit ? tkb_gc_remove_unit(gc, index, loader, err)
	               : tkb_remove_hide(
				 &gc->batch.stages[gc->batch.jobs[index].root],
				 loader, item->found, err);
}

/* If another gc has removed the item meanwhile, it gets no result. */
static int hide_item(void *self, size_t worker, size_t index,
                     struct tkb_error *err)
{
	struct tkb_gc *gc = self;
	struct tkb_gc_item *item = &gc->items[index];
	struct tkb_loader *loader = &gc->cache->loaders[worker];
	struct tkb_error fault = { 0 };
	int rc;

	rc = check_unused(gc, item, &fault);
	if (rc == 0)
		rc = hide(gc, index, loader, &fault);
	if (rc < 0)
		return fail_gc_job(gc, index, rc, &fault, err);
	if (rc == 0 && gc->options->is_dry_run)
		finish_removed(gc, index);
	item->is_hidden = rc == 0 && !gc->options->is_dry_run;
	item->is_gone = true;
	return 0;
}

static int hide_chosen(void *self, size_t worker, size_t index,
                       struct tkb_error *err)
{
	const struct tkb_gc *gc = self;

	return gc->items[index].is_chosen ? hide_item(self, worker, index, err)
	                                  : 0;
}

/*
 * Ask the watch, also where the answer changes nothing, since what was begun is
 * finished: a program ends a call that does not ask after a signal.
 */
static bool is_cancelled(struct tkb_gc *gc)
{
	return tkb_watcher_check(&gc->batch.watcher, NULL) < 0;
}

/* Wait: a process may have read a group file just before it was unlinked. */
static void wait_for_readers(struct tkb_gc *gc)
{
	const uint64_t end = tkb_now_ns() + WAIT_MS * TKB_NS_PER_MS;
	bool has_kernel = false;

	for (size_t i = 0; i < gc->item_count; i++)
		has_kernel |= gc->items[i].is_hidden &&
		              gc->items[i].found->group_name != NULL;
	while (has_kernel && tkb_now_ns() < end) {
		const struct timespec pause = {
			.tv_nsec = ASK_MS * (long)TKB_NS_PER_MS
		};

		(void)is_cancelled(gc);
		(void)nanosleep(&pause, NULL);
	}
}

/* A unit was moved into the stage, and is removed with the stage. */
static int remove_rest(struct tkb_gc *gc, size_t index, struct tkb_error *err)
{
	const struct tkb_scanned_entry *found = gc->items[index].found;

	if (found->entry.kind == TKB_KIND_UNIT)
		return 0;
	return tkb_remove_rest(&gc->batch.stages[gc->batch.jobs[index].root],
	                       found, err);
}

/* Remove the other files of hidden entries, even if the gc failed. */
static int remove_hidden(struct tkb_gc *gc, struct tkb_error *err)
{
	int result = 0;

	wait_for_readers(gc);
	for (size_t i = 0; i < gc->item_count; i++) {
		struct tkb_error fault = { 0 };
		int rc;

		if (!gc->items[i].is_hidden)
			continue;
		(void)is_cancelled(gc);
		rc = remove_rest(gc, i, &fault);
		if (rc == 0)
			finish_removed(gc, i);
		else
			rc = fail_gc_job(gc, i, rc, &fault, err);
		if (rc < 0)
			result = rc;
	}
	return result;
}

static bool has_chosen(const struct tkb_gc *gc, size_t root)
{
	for (size_t i = 0; i < gc->item_count; i++) {
		if (gc->items[i].is_chosen && gc->batch.jobs[i].root == root)
			return true;
	}
	return false;
}

/*
 * Fail if we may not write to a root, and make sure that each root has a lock
 * file. On a full disk the file cannot be made; then the gc continues without a
 * lock.
 */
static int prepare_roots(struct tkb_gc *gc, struct tkb_error *err)
{
	for (size_t i = 0; i < gc->batch.stage_count; i++) {
		struct tkb_stage *stage = &gc->batch.stages[i];

		if (!has_chosen(gc, i) || stage->root->fd < 0)
			continue;
		/* A sandbox that lacks faccessat2() says EPERM: it is not known. */
		if (faccessat(stage->root->fd, ".", W_OK, AT_EACCESS) < 0 &&
		    errno != EPERM)
			return tkb_fail_errno(err, "cannot write in '%s'",
			                      stage->root->path);
		if (stage->own_fd < 0 &&
		    tkb_stage_open(stage, NULL) == TKB_ERR_NOMEM)
			return tkb_fail_nomem(err);
	}
	return 0;
}

static int remove_leftovers(struct tkb_gc *gc, struct tkb_error *err)
{
	int rc = 0;

	if (gc->cache->unfinished_count == 0)
		return 0;
	for (size_t i = 0; i < gc->batch.stage_count && rc == 0; i++)
		rc = gc->cache->roots.items[i].tree != NULL
		             ? 0
		             : tkb_remove_leftovers(
				       &gc->batch.stages[i],
				       &gc->cache->loaders[0].names,
				       gc->options->is_dry_run,
				       &gc->report.unfinished_count, err);
	return rc;
}

static int remove_chosen(struct tkb_gc *gc, struct tkb_error *err)
{
	struct tkb_error second = { 0 };
	int removing;
	int rc;

	rc = tkb_batch_run(&gc->batch, 1, hide_chosen, gc, err);
	removing = remove_hidden(gc, rc < 0 ? &second : err);
	return rc < 0 ? rc : removing;
}

static int collect_garbage(struct tkb_gc *gc, const char *path,
                           struct tkb_error *err)
{
	int rc;

	rc = scan_for_gc(gc, path, err);
	if (rc == 0)
		rc = find_times(gc, err);
	if (rc == 0)
		rc = tkb_batch_init_stages(&gc->batch, &gc->cache->roots, NULL,
		                           gc->options->is_dry_run, err);
	if (rc == 0)
		rc = tkb_gc_plan(gc, err);
	if (rc == 0)
		rc = tkb_gc_look_at_trees(gc, err);
	if (rc == 0 && !gc->options->is_dry_run)
		rc = prepare_roots(gc, err);
	if (rc == 0)
		rc = remove_chosen(gc, err);
	return rc == 0 ? remove_leftovers(gc, err) : rc;
}

static void count_removed(void *self, const struct tkb_result *result)
{
	struct tkb_gc_report *report = self;

	report->removed_count += result->outcome == TKB_OUTCOME_REMOVED;
	report->busy_count += result->outcome == TKB_OUTCOME_SKIPPED;
	report->failed_count += result->outcome == TKB_OUTCOME_FAILED;
}

/* An entry that another gc removed counts neither as removed nor as kept. */
static void count_sizes(struct tkb_gc *gc)
{
	for (size_t i = 0; i < gc->batch.job_count; i++) {
		const struct tkb_job *job = &gc->batch.jobs[i];

		if (job->is_done && job->outcome == TKB_OUTCOME_REMOVED) {
			gc->report.removed_size += job->size;
		} else if (job->is_done || !gc->items[i].is_chosen) {
			gc->report.kept_count++;
			gc->report.kept_size += job->size;
		}
	}
}

/*
 * Report entries that cannot be read: they are never removed, and may fill the
 * cache.
 */
static void report_unreadable(struct tkb_gc *gc)
{
	const struct tkb_cache *cache = gc->cache;

	for (size_t i = 0; cache != NULL && i < cache->left_out_count; i++) {
		const struct tkb_result result = tkb_left_out_result(
			&cache->left_out[i], TKB_OUTCOME_FAILED);

		if (result.reason != TKB_REASON_UNREADABLE)
			continue;
		gc->report.failed_count++;
		tkb_watcher_result(&gc->batch.watcher, &result);
	}
}

static void report_all(struct tkb_gc *gc)
{
	tkb_batch_report(&gc->batch, count_removed, &gc->report);
	count_sizes(gc);
	report_unreadable(gc);
	tkb_watcher_finish(&gc->batch.watcher);
}

/*
 * Note that the entries are removed. If one comes again, it must not count as
 * revoked.
 */
static int note_removed(const struct tkb_gc *gc, const char *cache_root,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	const char **keys = tkb_alloc_array(gc->batch.job_count, sizeof(*keys));
	struct tkb_origin origin = { .keys = keys };

	if (keys == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < gc->batch.job_count; i++) {
		const struct tkb_job *job = &gc->batch.jobs[i];
		const char *key = gc->items[i].found->entry.key;

		if (job->is_done && job->outcome == TKB_OUTCOME_REMOVED &&
		    tkb_origins_is_revoked(gc->options->revoked, key))
			keys[origin.key_count++] = key;
	}
	return origin.key_count == 0
	               ? 0
	               : tkb_origins_note(cache_root, &origin, 1, err);
}

int tkb_gc(const char *cache_root, const struct tkb_gc_options *options,
           struct tkb_gc_report *report, struct tkb_error *err)
{
	struct tkb_gc_options chosen;
	TKB_AUTO(gc_close) struct tkb_gc gc = { .options = &chosen };
	struct tkb_error fault = { 0 };
	int rc;

	rc = TKB_STRUCT_READ(tkb_gc_options, revoked, &chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_gc_report, unfinished_count, report,
		                      err);
	if (rc == 0 && !chosen.has_max_size && !chosen.has_max_entries &&
	    !chosen.has_max_age && chosen.revoked == NULL)
		rc = tkb_fail(err, TKB_ERR_INVALID, "no bound is given");
	if (rc == 0)
		rc = tkb_batch_begin(&gc.batch, chosen.is_enabled, chosen.watch,
		                     chosen.deadline_ms, err);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		rc = collect_garbage(&gc, cache_root, &fault);
		report_all(&gc);
		if (rc == 0 && chosen.revoked != NULL && cache_root != NULL &&
		    !chosen.is_dry_run)
			rc = note_removed(&gc, cache_root, &fault);
		if (rc != 0)
			return tkb_batch_end(&gc.batch, rc, &fault, err);
	}
	TKB_STRUCT_WRITE(tkb_gc_report, report, &gc.report);
	return tkb_partial(&gc.batch.watcher.first, err);
}
