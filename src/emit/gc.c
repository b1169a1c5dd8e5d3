/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/gc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/disable.h"
#include "base/struct.h"
#include "emit/remove.h"
#include "cache/uses.h"

/*
 * A gc in four steps: entries are put in the order of their last use; from the
 * oldest on, those are chosen that have to go; their group files are unlinked,
 * and a second later the rest.
 */

static void gc_close(struct tkb_gc *gc)
{
	for (size_t i = 0; i < gc->stage_count; i++)
		tkb_stage_close(&gc->stages[i]);
	free(gc->stages);
	for (size_t i = 0; i < gc->item_count; i++)
		free(gc->items[i].message);
	free(gc->items);
	free(gc->tells);
	tkb_cache_close(gc->cache);
	tkb_watcher_release(&gc->watcher);
}

static int scan(struct tkb_gc *gc, const char *path, struct tkb_error *err)
{
	const struct tkb_cache_options wanted = {
		.threads = gc->options->threads,
		.watch = gc->options->watch,
	};
	const struct tkb_scan scan = { .options = &wanted, .keep_apart = true };

	return tkb_cache_scan(path, &scan, &gc->cache, err);
}

/* Look at each root, and remove the stages of the dead there. */
static int open_roots(struct tkb_gc *gc, struct tkb_error *err)
{
	static const struct tkb_digest no_bundle = { { 0 } };
	const struct tkb_roots *roots = &gc->cache->roots;

	gc->tells = tkb_alloc_array(roots->count, sizeof(*gc->tells));
	gc->stages = tkb_alloc_array(roots->count, sizeof(*gc->stages));
	if (gc->tells == NULL || gc->stages == NULL)
		return tkb_fail_nomem(err);
	gc->report.is_inductor = roots->is_inductor;
	gc->report.has_uses = true;
	for (size_t i = 0; i < roots->count; i++) {
		gc->tells[i] = tkb_use_is_told(&roots->items[i]);
		gc->report.has_uses &= gc->tells[i];
		tkb_stage_init(&gc->stages[i], &roots->items[i]);
		gc->stages[i].watcher = &gc->watcher;
		gc->stage_count++;
		if (!gc->options->is_dry_run)
			tkb_stage_begin(&gc->stages[i], &no_bundle, true);
	}
	return 0;
}

static void finish(struct tkb_gc *gc, struct tkb_gc_item *item,
                   enum tkb_outcome outcome)
{
	item->outcome = outcome;
	item->is_done = true;
	tkb_watcher_progress(&gc->watcher, item->use.size);
}

/*
 * Note what hiding or removing it gave, and return 0; what concerns all
 * entries is passed on.
 */
static int fail(struct tkb_gc *gc, struct tkb_gc_item *item, int rc,
                const struct tkb_error *fault, struct tkb_error *err)
{
	if (!tkb_failure_is_of_entry(rc, fault)) {
		*err = *fault;
		return rc;
	}
	item->message = strdup(fault->message);
	if (item->message == NULL)
		return tkb_fail_nomem(err);
	item->reason = (enum tkb_reason)fault->reason;
	finish(gc, item,
	       fault->reason == TKB_REASON_BUSY ? TKB_OUTCOME_SKIPPED
	                                        : TKB_OUTCOME_FAILED);
	return 0;
}

/* Was it used since it was put in order? */
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

/* One that is gone meanwhile, by another gc, has no result. */
static int hide(struct tkb_gc *gc, struct tkb_gc_item *item,
                struct tkb_error *err)
{
	struct tkb_loader *loader = &gc->cache->loaders[0];
	struct tkb_error fault = { 0 };
	int rc;

	rc = check_unused(gc, item, &fault);
	if (rc == 0 && gc->options->is_dry_run)
		rc = tkb_remove_check(loader, item->found, &fault);
	else if (rc == 0)
		rc = tkb_remove_hide(&gc->stages[tkb_gc_root(gc, item)], loader,
		                     item->found, &fault);
	if (rc < 0)
		return fail(gc, item, rc, &fault, err);
	if (rc == 0 && gc->options->is_dry_run)
		finish(gc, item, TKB_OUTCOME_REMOVED);
	item->is_hidden = rc == 0 && !gc->options->is_dry_run;
	return 0;
}

static int hide_all(struct tkb_gc *gc, struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < gc->item_count; i++) {
		if (!gc->items[i].is_chosen)
			continue;
		rc = tkb_watcher_check(&gc->watcher, err);
		if (rc < 0)
			return rc;
		rc = hide(gc, &gc->items[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Somebody may have read a group file just before it went. */
static void wait_for_readers(const struct tkb_gc *gc)
{
	struct timespec until = { 0 };
	bool has_kernel = false;

	for (size_t i = 0; i < gc->item_count; i++)
		has_kernel |= gc->items[i].is_hidden &&
		              gc->items[i].found->group_name != NULL;
	if (!has_kernel)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		continue;
}

static int remove_hidden(struct tkb_gc *gc, struct tkb_error *err)
{
	int result = 0;

	wait_for_readers(gc);
	for (size_t i = 0; i < gc->item_count; i++) {
		struct tkb_gc_item *item = &gc->items[i];
		struct tkb_error fault = { 0 };
		int rc;

		if (!item->is_hidden)
			continue;
		rc = tkb_remove_rest(&gc->stages[tkb_gc_root(gc, item)],
		                     item->found, &fault);
		if (rc == 0)
			finish(gc, item, TKB_OUTCOME_REMOVED);
		else
			rc = fail(gc, item, rc, &fault, err);
		if (rc < 0)
			result = rc;
	}
	return result;
}

static bool has_chosen(const struct tkb_gc *gc, size_t root)
{
	for (size_t i = 0; i < gc->item_count; i++) {
		if (gc->items[i].is_chosen &&
		    tkb_gc_root(gc, &gc->items[i]) == root)
			return true;
	}
	return false;
}

/*
 * Can entries be removed at all? And see to it that there is a lock: on a full
 * disk it is done without.
 */
static int prepare_stages(struct tkb_gc *gc, struct tkb_error *err)
{
	for (size_t i = 0; i < gc->stage_count; i++) {
		struct tkb_stage *stage = &gc->stages[i];

		if (!has_chosen(gc, i))
			continue;
		if (faccessat(stage->root->fd, ".", W_OK, AT_EACCESS) < 0)
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
	int rc;

	for (size_t i = 0;
	     i < gc->stage_count && gc->cache->unfinished_count != 0; i++) {
		rc = tkb_remove_leftovers(&gc->stages[i],
		                          &gc->cache->loaders[0].names,
		                          gc->options->is_dry_run,
		                          &gc->report.unfinished_count, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int collect_garbage(struct tkb_gc *gc, const char *path,
                           struct tkb_error *err)
{
	struct tkb_error second = { 0 };
	int removing;
	int rc;

	rc = scan(gc, path, err);
	if (rc != 0)
		return rc;
	rc = open_roots(gc, err);
	if (rc < 0)
		return rc;
	rc = tkb_gc_plan(gc, err);
	if (rc < 0)
		return rc;
	if (!gc->options->is_dry_run) {
		rc = prepare_stages(gc, err);
		if (rc < 0)
			return rc;
	}
	rc = hide_all(gc, err);
	/* Also where it was cancelled: what is begun is brought to its end. */
	removing = remove_hidden(gc, rc < 0 ? &second : err);
	if (rc < 0 || removing < 0)
		return rc < 0 ? rc : removing;
	return remove_leftovers(gc, err);
}

static void count(struct tkb_gc_report *report, const struct tkb_gc_item *item)
{
	if (item->is_done && item->outcome == TKB_OUTCOME_REMOVED) {
		report->removed_count++;
		report->removed_size += item->use.size;
		return;
	}
	if (item->is_chosen && !item->is_done)
		return; /* gone, but not by us */
	report->kept_count++;
	report->kept_size += item->use.size;
	report->busy_count +=
		item->is_done && item->outcome == TKB_OUTCOME_SKIPPED;
	report->failed_count +=
		item->is_done && item->outcome == TKB_OUTCOME_FAILED;
}

/* What the system does not let us read can go on to fill the cache. */
static void tell_unreadable(struct tkb_gc *gc)
{
	const struct tkb_cache *cache = gc->cache;

	for (size_t i = 0; cache != NULL && i < cache->left_out_count; i++) {
		const struct tkb_result result = tkb_left_out_result(
			&cache->left_out[i], TKB_OUTCOME_FAILED);

		if (result.reason != TKB_REASON_UNREADABLE)
			continue;
		gc->report.failed_count++;
		tkb_watcher_result(&gc->watcher, &result);
	}
}

static void tell_all(struct tkb_gc *gc)
{
	for (size_t i = 0; i < gc->item_count; i++) {
		const struct tkb_gc_item *item = &gc->items[i];
		const struct tkb_result result = {
			.root = item->found->root->path,
			.key = item->found->entry.key,
			.name = item->found->entry.name,
			.outcome = item->outcome,
			.reason = item->reason,
			.message = item->message != NULL ? item->message : "",
		};

		count(&gc->report, item);
		if (item->is_done)
			tkb_watcher_result(&gc->watcher, &result);
	}
	tell_unreadable(gc);
	tkb_watcher_finish(&gc->watcher);
}

int tkb_gc(const char *cache_root, const struct tkb_gc_options *options,
           struct tkb_gc_report *report, struct tkb_error *err)
{
	TKB_AUTO(gc_close) struct tkb_gc gc = { 0 };
	struct tkb_error own = { 0 };
	struct tkb_gc_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_gc_options, watch, &chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_gc_report, unfinished_count, report,
		                      err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!chosen.has_max_size && !chosen.has_max_entries &&
	    !chosen.has_max_age)
		return tkb_fail(err, TKB_ERR_INVALID, "no bound is given");
	if (!chosen.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_gc_report, report, &gc.report);
		return 0;
	}
	chosen.watch = &timed.watch;
	gc.options = &chosen;
	tkb_watcher_init(&gc.watcher, &timed.watch, 0);
	rc = collect_garbage(&gc, cache_root, &own);
	tell_all(&gc);
	if (rc != 0) {
		if (err != NULL)
			*err = own;
		return tkb_timed_end(&timed, rc, err);
	}
	TKB_STRUCT_WRITE(tkb_gc_report, report, &gc.report);
	return 0;
}
