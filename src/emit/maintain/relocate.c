/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/maintain.h>

#include "base/struct.h"
#include "cache/cache.h"
#include "emit/batch.h"
#include "emit/destination.h"
#include "emit/unit_relocate.h"

struct relocator {
	const struct tkb_relocate_options *options;
	struct tkb_cache *cache;  /* owned */
	struct tkb_batch batch;   /* its jobs are the found entries */
	struct tkb_loader loader; /* for what is read again */
	struct tkb_relocate_report report;
};

static void relocator_close(struct relocator *relocator)
{
	tkb_batch_release(&relocator->batch);
	tkb_loader_close(&relocator->loader);
	tkb_cache_close(relocator->cache);
}

/* Find the whole entries; the cache leaves out all others. */
static int scan_moved(struct relocator *relocator, const char *path,
                      struct tkb_error *err)
{
	const struct tkb_cache_options options = {
		.threads = relocator->options->threads,
		.watch = &relocator->batch.timed.watch,
		.trees = relocator->options->trees,
		.tree_count = relocator->options->tree_count,
	};
	const struct tkb_scan scan = { .options = &options,
		                       .keeps_apart = true,
		                       .reads_all = true };
	const struct tkb_cache *cache;
	int rc;

	rc = tkb_cache_scan(path, &scan, &relocator->cache, err);
	if (rc != 0)
		return rc;
	cache = relocator->cache;
	if (!tkb_roots_exist(&cache->roots))
		return TKB_MISS;
	relocator->report.is_inductor = cache->roots.is_inductor;
	for (size_t i = 0; i < cache->found_count && rc == 0; i++)
		rc = tkb_batch_add_job(
			&relocator->batch, &cache->found[i].entry,
			tkb_cache_root_of(cache, &cache->found[i]), err);
	tkb_batch_set_total(&relocator->batch);
	return rc;
}

/* Finish the jobs that need no write. */
static void finish_scanned(struct relocator *relocator)
{
	struct tkb_batch *batch = &relocator->batch;

	for (size_t i = 0; i < batch->job_count; i++) {
		if (!relocator->cache->found[i].is_moved)
			tkb_batch_done(batch, &batch->jobs[i],
			               TKB_OUTCOME_PRESENT);
		else if (relocator->options->is_dry_run)
			tkb_batch_done(batch, &batch->jobs[i],
			               TKB_OUTCOME_REPAIRED);
	}
}

static int relocate_entry(void *self, size_t worker, size_t index,
                          struct tkb_error *err)
{
	struct relocator *relocator = self;
	struct tkb_batch *batch = &relocator->batch;
	struct tkb_job *job = &batch->jobs[index];
	const struct tkb_destination to = {
		.stage = &batch->stages[job->root],
		.entry = job->entry,
		.number = index,
	};
	struct tkb_error fault = { 0 };
	int rc;

	(void)worker; /* one thread: each job takes the root's lock */
	rc = (job->entry->kind == TKB_KIND_UNIT ? tkb_unit_relocate
	                                        : tkb_destination_relocate)(
		&to, &relocator->loader, &fault);
	/* If an entry has become incomplete, another process is changing it. */
	if (rc < 0)
		return tkb_batch_fail(batch, job,
		                      rc == TKB_ERR_IO ? TKB_OUTCOME_FAILED
		                                       : TKB_OUTCOME_LEFT_OUT,
		                      rc, &fault, err);
	tkb_batch_done(batch, job, TKB_OUTCOME_REPAIRED);
	return 0;
}

static int relocate_entries(struct relocator *relocator, const char *path,
                            struct tkb_error *err)
{
	struct tkb_batch *batch = &relocator->batch;
	int rc;

	rc = scan_moved(relocator, path, err);
	if (rc == 0)
		rc = tkb_batch_init_stages(batch, &relocator->cache->roots,
		                           NULL, relocator->options->is_dry_run,
		                           err);
	if (rc != 0)
		return rc;
	finish_scanned(relocator);
	rc = tkb_batch_open_stages(batch, err);
	if (rc == 0)
		rc = tkb_loader_open(&relocator->loader, false, false, err);
	relocator->loader.named = relocator->cache->named;
	relocator->loader.named_count = relocator->cache->named_count;
	return rc < 0 ? rc
	              : tkb_batch_run(batch, 1, relocate_entry, relocator, err);
}

static void count_relocated(void *self, const struct tkb_result *result)
{
	struct tkb_relocate_report *report = self;
	const enum tkb_outcome outcome = result->outcome;

	report->relocated_count += outcome == TKB_OUTCOME_REPAIRED;
	report->present_count += outcome == TKB_OUTCOME_PRESENT;
	report->left_out_count += outcome == TKB_OUTCOME_LEFT_OUT;
	report->failed_count += outcome == TKB_OUTCOME_FAILED;
}

static void report_all(struct relocator *relocator)
{
	const struct tkb_cache *cache = relocator->cache;

	tkb_batch_report(&relocator->batch, count_relocated,
	                 &relocator->report);
	for (size_t i = 0; cache != NULL && i < cache->left_out_count; i++) {
		const struct tkb_result result = tkb_left_out_result(
			&cache->left_out[i], TKB_OUTCOME_LEFT_OUT);

		count_relocated(&relocator->report, &result);
		tkb_watcher_result(&relocator->batch.watcher, &result);
	}
	tkb_watcher_finish(&relocator->batch.watcher);
}

int tkb_relocate(const char *cache_root,
                 const struct tkb_relocate_options *options,
                 struct tkb_relocate_report *report, struct tkb_error *err)
{
	struct tkb_relocate_options chosen;
	TKB_AUTO(relocator_close)
	struct relocator relocator = { .options = &chosen };
	struct tkb_error fault = { 0 };
	int rc;

	rc = TKB_STRUCT_READ(tkb_relocate_options, tree_count, &chosen, options,
	                     err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_relocate_report, failed_count, report,
		                      err);
	if (rc == 0)
		rc = tkb_batch_begin(&relocator.batch, chosen.is_enabled,
		                     chosen.watch, chosen.deadline_ms, err);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		rc = relocate_entries(&relocator, cache_root, &fault);
		report_all(&relocator);
		if (rc != 0)
			return tkb_batch_end(&relocator.batch, rc, &fault, err);
	}
	TKB_STRUCT_WRITE(tkb_relocate_report, report, &relocator.report);
	return tkb_partial(&relocator.batch.watcher.first, err);
}
