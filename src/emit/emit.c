/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/emit.h>

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/parallel.h"
#include "base/path.h"
#include "base/struct.h"
#include "cache/names.h"
#include "emit/emitter.h"
#include "emit/options.h"

static void emitter_close(struct tkb_emitter *emitter)
{
	tkb_batch_release(&emitter->batch);
	for (size_t i = 0; i < emitter->loader_count; i++)
		tkb_loader_close(&emitter->loaders[i]);
	free(emitter->loaders);
	tkb_decoder_team_close(&emitter->decoding);
	free(emitter->progress);
	free(emitter->first_jobs);
	free(emitter->order);
	free(emitter->selections);
	free(emitter->named);
	tkb_arena_release(&emitter->arena);
	tkb_roots_release(&emitter->roots);
	tkb_buf_release(&emitter->path);
}

static int open_threads(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const size_t count = tkb_parallel_threads(emitter->options->threads);
	int rc = 0;

	emitter->loaders = tkb_alloc_array(count, sizeof(*emitter->loaders));
	emitter->progress = tkb_alloc_array(emitter->batch.job_count,
	                                    sizeof(*emitter->progress));
	if (emitter->loaders == NULL || emitter->progress == NULL)
		return tkb_fail_nomem(err);
	while (emitter->loader_count < count && rc == 0) {
		struct tkb_loader *loader =
			&emitter->loaders[emitter->loader_count++];

		rc = tkb_loader_open(loader, false, false, err);
		loader->named = emitter->named;
		loader->named_count = emitter->options->tree_count;
	}
	return rc < 0 ? rc
	              : tkb_decoder_team_open(&emitter->decoding, count, err);
}

/*
 * Inspect
 */

/* Finish a job that needs no write. */
static int finish_inspected(struct tkb_emitter *emitter, struct tkb_job *job,
                            enum tkb_entry_state state, struct tkb_error *err)
{
	struct tkb_batch *batch = &emitter->batch;
	struct tkb_error fault = { 0 };
	int rc;

	switch (state) {
	case TKB_ENTRY_STATE_PRESENT:
		tkb_batch_done(batch, job, TKB_OUTCOME_PRESENT);
		break;
	case TKB_ENTRY_STATE_BUSY:
		tkb_batch_finish(batch, job, TKB_OUTCOME_SKIPPED,
		                 TKB_REASON_BUSY,
		                 "a compiler is writing there");
		break;
	case TKB_ENTRY_STATE_UNSAFE:
		rc = tkb_fail_entry(
			&fault, TKB_REASON_UNSAFE,
			job->entry->kind == TKB_KIND_UNIT
				? "something else is in the way of '%s/%s'"
				: "'%s/%s' is not a folder",
			batch->roots->items[job->root].path,
			job->entry->kind == TKB_KIND_UNIT ? job->entry->name
							  : job->entry->key);
		return tkb_emit_fail(emitter, job, rc, &fault, err);
	case TKB_ENTRY_STATE_ABSENT:
	case TKB_ENTRY_STATE_MOVED:
	case TKB_ENTRY_STATE_BROKEN:
		if (emitter->options->is_dry_run)
			tkb_batch_done(batch, job,
			               state == TKB_ENTRY_STATE_ABSENT
			                       ? TKB_OUTCOME_EMITTED
			                       : TKB_OUTCOME_REPAIRED);
		break;
	}
	return 0;
}

static int inspect_job(void *self, size_t worker, size_t index,
                       struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	struct tkb_job *job = &emitter->batch.jobs[index];
	const struct tkb_stage *stage = &emitter->batch.stages[job->root];
	struct tkb_loader *loader = &emitter->loaders[worker];
	enum tkb_entry_state *state = &emitter->progress[index].state;
	struct tkb_error fault = { 0 };
	int rc;

	if (!stage->is_empty) {
		tkb_arena_release(&loader->arena);
		rc = tkb_inspect_destination(loader, stage->root, job->entry,
		                             stage->is_trusted, state, &fault);
		if (rc < 0)
			return tkb_emit_fail(emitter, job, rc, &fault, err);
	}
	return finish_inspected(emitter, job, *state, err);
}

/* True if the root does not exist or holds nothing but our own folder. */
static bool is_root_empty(const struct tkb_root *root)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;
	int rc;

	if (root->fd < 0)
		return true;
	if (tkb_dir_open(root->fd, ".", &dir, NULL) < 0)
		return false;
	for (rc = tkb_dir_next(dir, &item, NULL); rc == 0;
	     rc = tkb_dir_next(dir, &item, NULL)) {
		if (!tkb_name_is_dots(item->d_name) &&
		    strcmp(item->d_name, TKB_OWN_FOLDER) != 0)
			return false;
	}
	return rc == TKB_MISS;
}

/*
 * If all roots are empty, as on a cold start, each entry will be written: nothing is
 * inspected, so further threads would not pay.
 */
static int inspect_jobs(struct tkb_emitter *emitter, struct tkb_error *err)
{
	struct tkb_batch *batch = &emitter->batch;
	bool are_empty = true;

	for (size_t i = 0; i < batch->stage_count; i++) {
		struct tkb_stage *stage = &batch->stages[i];

		stage->is_empty = is_root_empty(stage->root);
		are_empty = are_empty && stage->is_empty;
	}
	return tkb_batch_run(batch, are_empty ? 1 : emitter->loader_count,
	                     inspect_job, emitter, err);
}

/*
 * The whole emit
 */

static int emit_entries(struct tkb_emitter *emitter, const char *path,
                        struct tkb_error *err)
{
	struct tkb_batch *batch = &emitter->batch;
	int rc = 0;

	if (path != NULL) {
		rc = tkb_path_absolute(path, &emitter->path, err);
		if (rc < 0)
			return rc;
		tkb_buf_add_byte(&emitter->path, '\0');
		rc = tkb_buf_check(&emitter->path, err);
	} else if (emitter->options->tree_count == 0) {
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              "there is no folder to emit to");
	}
	if (rc == 0)
		rc = tkb_emit_select(emitter, err);
	if (rc == 0)
		rc = tkb_emit_plan(emitter, err);
	if (rc == 0)
		rc = tkb_batch_init_stages(batch, &emitter->roots,
		                           &emitter->bundle->id,
		                           emitter->options->is_dry_run, err);
	if (rc == 0)
		rc = open_threads(emitter, err);
	if (rc == 0)
		rc = inspect_jobs(emitter, err);
	if (rc == 0 && !tkb_batch_is_done(batch))
		rc = tkb_emit_write(emitter, err);
	return rc;
}

/* Mark the bundle as trusted in each root, if all its entries are whole. */
static void set_marks(const struct tkb_emitter *emitter)
{
	const struct tkb_emit_options *options = emitter->options;
	const struct tkb_emit_report *report = &emitter->report;

	if (emitter->bundle->fault.status != 0 || options->is_dry_run ||
	    emitter->skips != NULL || options->key_count != 0 ||
	    options->target_count != 0 || report->failed_count != 0 ||
	    report->damaged_count != 0 || report->unsafe_count != 0 ||
	    report->busy_count != 0)
		return;
	for (size_t i = 0; i < emitter->batch.stage_count; i++)
		tkb_stage_trust(&emitter->batch.stages[i],
		                &emitter->bundle->id);
}

int tkb_emit_options_read(struct tkb_emit_options *out,
                          const struct tkb_emit_options *given,
                          struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_emit_options, is_layout_ignored, out, given,
	                     err);
	for (size_t i = 0; rc == 0 && i < out->device_count; i++) {
		if (out->devices[i] >= TKB_DEVICE_LIMIT)
			rc = tkb_fail(err, TKB_ERR_INVALID,
			              "no device has number %u",
			              (unsigned)out->devices[i]);
	}
	return rc;
}

int tkb_emit_without(const struct tkb_bundle *bundle, const char *cache_root,
                     const bool *skips, const struct tkb_emit_options *options,
                     struct tkb_emit_report *report, struct tkb_error *err)
{
	struct tkb_emit_options chosen;
	TKB_AUTO(emitter_close)
	struct tkb_emitter emitter = {
		.bundle = bundle,
		.options = &chosen,
		.skips = skips,
		.path = TKB_BUF_INIT(64 * TKB_KIB),
	};
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_emit_options_read(&chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_emit_report, size, report, err);
	if (rc == 0)
		rc = tkb_batch_begin(&emitter.batch, chosen.is_enabled,
		                     chosen.watch, chosen.deadline_ms, err);
	if (rc < 0)
		return rc;
	if (rc == TKB_MISS) {
		TKB_STRUCT_WRITE(tkb_emit_report, report, &emitter.report);
		return 0;
	}
	rc = emit_entries(&emitter, cache_root, &fault);
	tkb_emit_report(&emitter);
	if (rc != 0)
		return tkb_batch_end(&emitter.batch, rc, &fault, err);
	set_marks(&emitter);
	TKB_STRUCT_WRITE(tkb_emit_report, report, &emitter.report);
	rc = tkb_emit_damage(&emitter, err);
	return rc < 0 ? rc : tkb_partial(&emitter.batch.watcher.first, err);
}

int tkb_emit(const struct tkb_bundle *bundle, const char *cache_root,
             const struct tkb_emit_options *options,
             struct tkb_emit_report *report, struct tkb_error *err)
{
	return tkb_emit_without(bundle, cache_root, NULL, options, report, err);
}
