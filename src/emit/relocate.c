/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/maintain.h>

#include <stdlib.h>

#include "base/disable.h"
#include "base/fd.h"
#include "base/struct.h"
#include "cache/cache.h"
#include "emit/install.h"

/* What becomes of one entry found. */
struct job {
	bool is_done;
	enum tkb_outcome outcome;
	enum tkb_reason reason;
	char *message; /* owned; NULL: none */
};

struct relocator {
	const struct tkb_relocate_options *options;
	struct tkb_cache *cache;  /* owned */
	struct tkb_stage *stages; /* owned; one a root */
	size_t stage_count;
	struct tkb_loader loader; /* the cache's hold what was found */
	struct job *jobs;         /* owned; of each entry found */
	size_t job_count;
	struct tkb_watcher watcher;
	struct tkb_relocate_report report;
};

static void relocator_close(struct relocator *relocator)
{
	for (size_t i = 0; i < relocator->stage_count; i++)
		tkb_stage_close(&relocator->stages[i]);
	free(relocator->stages);
	tkb_loader_close(&relocator->loader);
	for (size_t i = 0; i < relocator->job_count; i++)
		free(relocator->jobs[i].message);
	free(relocator->jobs);
	tkb_cache_close(relocator->cache);
	tkb_watcher_release(&relocator->watcher);
}

static void finish(struct relocator *relocator, size_t index,
                   enum tkb_outcome outcome)
{
	struct job *job = &relocator->jobs[index];

	job->outcome = outcome;
	job->is_done = true;
	tkb_watcher_progress(
		&relocator->watcher,
		tkb_entry_size(&relocator->cache->found[index].entry));
}

/* Note a failure, and return 0; what concerns all entries is passed on. */
static int fail(struct relocator *relocator, size_t index, int rc,
                const struct tkb_error *fault, struct tkb_error *err)
{
	struct job *job = &relocator->jobs[index];

	if (!tkb_failure_is_of_entry(rc, fault)) {
		*err = *fault;
		return rc;
	}
	job->message = strdup(fault->message);
	if (job->message == NULL)
		return tkb_fail_nomem(err);
	job->reason = (enum tkb_reason)fault->reason;
	/* What is no whole entry any more is somebody else's work. */
	finish(relocator, index,
	       rc == TKB_ERR_IO ? TKB_OUTCOME_FAILED : TKB_OUTCOME_LEFT_OUT);
	return 0;
}

static struct tkb_stage *stage_of(const struct relocator *relocator,
                                  size_t index)
{
	const struct tkb_cache *cache = relocator->cache;

	return &relocator
	                ->stages[cache->found[index].root - cache->roots.items];
}

/* Settle what needs no writing. Returns how many entries do need it. */
static size_t settle(struct relocator *relocator)
{
	const struct tkb_cache *cache = relocator->cache;
	size_t moved_count = 0;

	for (size_t i = 0; i < cache->found_count; i++) {
		if (!cache->found[i].is_moved)
			finish(relocator, i, TKB_OUTCOME_PRESENT);
		else if (relocator->options->is_dry_run)
			finish(relocator, i, TKB_OUTCOME_REPAIRED);
		else
			moved_count++;
	}
	return moved_count;
}

/* Look at each root, and remove the stages of the dead there. */
static int init_stages(struct relocator *relocator, struct tkb_error *err)
{
	static const struct tkb_digest no_bundle = { { 0 } };
	const struct tkb_roots *roots = &relocator->cache->roots;

	relocator->stages =
		tkb_alloc_array(roots->count, sizeof(*relocator->stages));
	if (relocator->stages == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < roots->count; i++) {
		tkb_stage_init(&relocator->stages[i], &roots->items[i]);
		relocator->stages[i].watcher = &relocator->watcher;
		relocator->stage_count++;
		if (!relocator->options->is_dry_run)
			tkb_stage_begin(&relocator->stages[i], &no_bundle,
			                true);
	}
	return 0;
}

/* Make a stage in each root in which something is to be written. */
static int open_stages(struct relocator *relocator, struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < relocator->job_count; i++) {
		struct tkb_stage *stage = stage_of(relocator, i);

		if (relocator->jobs[i].is_done || stage->fd >= 0)
			continue;
		rc = tkb_stage_open(stage, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * In the root's lock, in which gc takes group files away: one that is gone must
 * not come back.
 */
static int relocate_group(struct relocator *relocator, size_t index,
                          struct tkb_error *err)
{
	const struct tkb_install install = {
		.stage = stage_of(relocator, index),
		.entry = &relocator->cache->found[index].entry,
		.number = index,
	};
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_stage_lock(install.stage, &lock, &fault);
	if (rc != TKB_ERR_CANCELLED)
		rc = tkb_install_relocate_group(&install, &relocator->loader,
		                                &fault);
	if (rc < 0)
		return fail(relocator, index, rc, &fault, err);
	finish(relocator, index, TKB_OUTCOME_REPAIRED);
	return 0;
}

static int relocate_group_all(struct relocator *relocator,
                              struct tkb_error *err)
{
	int rc;

	rc = open_stages(relocator, err);
	if (rc < 0)
		return rc;
	rc = tkb_loader_open(&relocator->loader, false, false, err);
	for (size_t i = 0; i < relocator->job_count && rc == 0; i++) {
		if (relocator->jobs[i].is_done)
			continue;
		rc = tkb_watcher_check(&relocator->watcher, err);
		if (rc == 0)
			rc = relocate_group(relocator, i, err);
	}
	return rc;
}

static int relocate(struct relocator *relocator, const char *path,
                    struct tkb_error *err)
{
	const struct tkb_cache_options wanted = {
		.threads = relocator->options->threads,
		.watch = relocator->options->watch,
	};
	const struct tkb_scan scan = { .options = &wanted, .keep_apart = true };
	int rc;

	rc = tkb_cache_scan(path, &scan, &relocator->cache, err);
	if (rc != 0)
		return rc;
	relocator->jobs = tkb_alloc_array(relocator->cache->found_count,
	                                  sizeof(*relocator->jobs));
	if (relocator->jobs == NULL)
		return tkb_fail_nomem(err);
	relocator->job_count = relocator->cache->found_count;
	for (size_t i = 0; i < relocator->job_count; i++)
		relocator->watcher.total +=
			tkb_entry_size(&relocator->cache->found[i].entry);
	rc = init_stages(relocator, err);
	if (rc < 0)
		return rc;
	return settle(relocator) == 0 ? 0 : relocate_group_all(relocator, err);
}

static void count(struct tkb_relocate_report *report, enum tkb_outcome outcome)
{
	switch (outcome) {
	case TKB_OUTCOME_REPAIRED:
		report->relocated_count++;
		break;
	case TKB_OUTCOME_PRESENT:
		report->present_count++;
		break;
	case TKB_OUTCOME_LEFT_OUT:
		report->left_out_count++;
		break;
	default:
		report->failed_count++;
		break;
	}
}

static void tell(struct relocator *relocator, const struct tkb_result *result)
{
	count(&relocator->report, result->outcome);
	tkb_watcher_result(&relocator->watcher, result);
}

/* At the end, in their order, as emit does. */
static void tell_all(struct relocator *relocator)
{
	const struct tkb_cache *cache = relocator->cache;

	for (size_t i = 0; i < relocator->job_count; i++) {
		const struct job *job = &relocator->jobs[i];
		const struct tkb_scanned_entry *found = &cache->found[i];
		const struct tkb_result result = {
			.root = found->root->path,
			.key = found->entry.key,
			.name = found->entry.name,
			.outcome = job->outcome,
			.reason = job->reason,
			.message = job->message != NULL ? job->message : "",
		};

		if (job->is_done)
			tell(relocator, &result);
	}
	for (size_t i = 0; cache != NULL && i < cache->left_out_count; i++) {
		const struct tkb_result result = tkb_left_out_result(
			&cache->left_out[i], TKB_OUTCOME_LEFT_OUT);

		tell(relocator, &result);
	}
	tkb_watcher_finish(&relocator->watcher);
}

int tkb_relocate(const char *cache_root,
                 const struct tkb_relocate_options *options,
                 struct tkb_relocate_report *report, struct tkb_error *err)
{
	TKB_AUTO(relocator_close) struct relocator relocator = { 0 };
	struct tkb_relocate_options chosen;
	struct tkb_error own = { 0 };
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_relocate_options, watch, &chosen, options,
	                     err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_relocate_report, failed_count, report,
		                      err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!chosen.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_relocate_report, report,
		                 &relocator.report);
		return 0;
	}
	chosen.watch = &timed.watch;
	relocator.options = &chosen;
	tkb_watcher_init(&relocator.watcher, &timed.watch, 0);
	rc = relocate(&relocator, cache_root, &own);
	tell_all(&relocator);
	if (rc != 0) {
		if (err != NULL)
			*err = own;
		return tkb_timed_end(&timed, rc, err);
	}
	relocator.report.is_inductor = relocator.cache->roots.is_inductor;
	TKB_STRUCT_WRITE(tkb_relocate_report, report, &relocator.report);
	return 0;
}
