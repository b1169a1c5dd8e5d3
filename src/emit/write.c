/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "emit/destination.h"
#include "emit/emitter.h"
#include "emit/siblings.h"
#include "emit/unit.h"
#include "emit/unit_relocate.h"
#include "tree/unit.h"

/*
 * Write
 */

struct tkb_destination tkb_emit_destination(struct tkb_emitter *emitter,
                                            size_t index)
{
	const struct tkb_job *job = &emitter->batch.jobs[index];
	const struct tkb_progress *progress = &emitter->progress[index];

	return (struct tkb_destination){
		.stage = &emitter->batch.stages[job->root],
		.entry = job->entry,
		.number = progress->has_siblings ? progress->first_sibling
		                                 : index,
		.has_siblings = progress->has_siblings,
	};
}

/* Does job `index` need bytes from the bundle? */
static bool needs_bytes(const struct tkb_emitter *emitter, size_t index)
{
	return !emitter->batch.jobs[index].is_done &&
	       emitter->progress[index].state != TKB_ENTRY_STATE_MOVED;
}

static bool is_frame_needed(const struct tkb_emitter *emitter,
                            const struct tkb_frame *frame)
{
	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t *jobs = &emitter->first_jobs[frame->entries[i]];

		for (size_t j = jobs[0]; j < jobs[1]; j++) {
			if (needs_bytes(emitter, j))
				return true;
		}
	}
	return false;
}

/* Fail all jobs that need bytes from a frame that cannot be decoded. */
static int fail_frame(struct tkb_emitter *emitter,
                      const struct tkb_frame *frame, int cause,
                      struct tkb_error *fault, struct tkb_error *err)
{
	int rc = 0;

	if (cause == TKB_ERR_CORRUPT)
		fault->reason = TKB_REASON_DAMAGED;
	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t *jobs = &emitter->first_jobs[frame->entries[i]];

		for (size_t j = jobs[0]; j < jobs[1] && rc == 0; j++) {
			if (needs_bytes(emitter, j))
				rc = tkb_emit_fail(emitter,
				                   &emitter->batch.jobs[j],
				                   cause, fault, err);
		}
	}
	return rc;
}

/* The name of a unit that is new here depends on the code in it. */
static void name_unit(struct tkb_emitter *emitter, const struct tkb_job *job,
                      const struct tkb_bytes *files)
{
	const struct tkb_root *root = &emitter->roots.items[job->root];
	const struct tkb_entry *unit = job->entry;
	char path[TKB_UNIT_PATH_LIMIT + 1];

	for (size_t i = 0; job->renamed != NULL && i < unit->file_count; i++) {
		if (strcmp(unit->files[i].name, TKB_UNIT_CODE) != 0)
			continue;
		tkb_unit_names_find(root->names, unit->name, files[i], path,
		                    sizeof(path));
		memcpy(job->renamed->path, path, sizeof(path));
		return;
	}
}

/*
 * Write entry `index` for each root that needs it. `*sibling` is the last job
 * that was written to a folder of siblings.
 */
static int write_entry(struct tkb_emitter *emitter, struct tkb_loader *loader,
                       size_t index, const struct tkb_bytes *files,
                       size_t *sibling, struct tkb_error *err)
{
	const size_t *jobs = &emitter->first_jobs[index];
	struct tkb_destination written = { 0 };
	int rc;

	for (size_t i = jobs[0]; i < jobs[1]; i++) {
		struct tkb_destination to;
		struct tkb_error fault = { 0 };
		uint64_t size = 0;

		if (!needs_bytes(emitter, i))
			continue;
		rc = tkb_watcher_check(&emitter->batch.watcher, err);
		if (rc < 0)
			return rc;
		name_unit(emitter, &emitter->batch.jobs[i], files);
		tkb_siblings_join(emitter, loader, i, sibling);
		to = tkb_emit_destination(emitter, i);
		if (to.entry->kind == TKB_KIND_UNIT)
			rc = tkb_unit_write(&to, loader, files, &size, &fault);
		else
			rc = tkb_destination_write(
				&to, loader, files,
				written.stage != NULL ? &written : NULL, &size,
				&fault);
		if (rc < 0)
			rc = tkb_emit_fail(emitter, &emitter->batch.jobs[i], rc,
			                   &fault, err);
		else {
			emitter->progress[i].is_written = true;
			written = to;
			(void)atomic_fetch_add(&emitter->written_size, size);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int write_frame(struct tkb_emitter *emitter, size_t worker,
                       const struct tkb_frame *frame, struct tkb_error *err)
{
	struct tkb_decoder *decoder = &emitter->decoding.decoders[worker];
	size_t sibling = TKB_NO_SIBLING;
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_watcher_check(&emitter->batch.watcher, err);
	if (rc < 0)
		return rc;
	rc = tkb_decoder_decode(decoder, emitter->bundle,
	                        (size_t)(frame - emitter->bundle->frames),
	                        &fault);
	if (rc < 0)
		return fail_frame(emitter, frame, rc, &fault, err);
	for (size_t i = 0; i < frame->entry_count && rc == 0; i++)
		rc = write_entry(
			emitter, &emitter->loaders[worker], frame->entries[i],
			decoder->files + decoder->firsts[i], &sibling, err);
	return rc;
}

/*
 * Commit
 */

/* Move job `index` into place, if it was written to the stage. */
static int commit_written(void *self, size_t worker, size_t index,
                          struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	struct tkb_job *job = &emitter->batch.jobs[index];
	const struct tkb_progress *progress = &emitter->progress[index];
	const struct tkb_destination to = tkb_emit_destination(emitter, index);
	enum tkb_outcome outcome = TKB_OUTCOME_FAILED;
	struct tkb_error fault = { 0 };
	int rc = 0;

	if (job->is_done || !progress->is_written)
		return 0;
	if (tkb_unit_record(to.entry) != NULL)
		rc = tkb_unit_stamp(&to, &emitter->loaders[worker], &fault);
	if (rc == 0)
		rc = (to.entry->kind == TKB_KIND_UNIT ? tkb_unit_commit
		                                      : tkb_destination_commit)(
			&to, &emitter->loaders[worker], progress->state,
			&outcome, &fault);
	if (rc < 0)
		return tkb_emit_fail(emitter, job, rc, &fault, err);
	if (outcome == TKB_OUTCOME_SKIPPED)
		tkb_batch_finish(&emitter->batch, job, outcome, TKB_REASON_BUSY,
		                 "a compiler is writing there");
	else
		tkb_batch_done(&emitter->batch, job, outcome);
	return 0;
}

/* Commit job `first` and its siblings: with their parent folder, or singly. */
static int commit_siblings(struct tkb_emitter *emitter, size_t worker,
                           size_t first, struct tkb_error *err)
{
	size_t next = first;
	size_t index;
	int rc = 0;

	if (tkb_siblings_publish(emitter, &emitter->loaders[worker], first))
		return 0;
	do {
		index = next;
		next = emitter->progress[index].next_sibling;
		rc = commit_written(emitter, worker, index, err);
	} while (rc == 0 && next != index);
	return rc;
}

/*
 * Commit a job, but not a unit that ninja built: it may be built from other
 * units, so it comes later. The first of some siblings commits all of them.
 */
static int commit_first(struct tkb_emitter *emitter, size_t worker,
                        size_t index, struct tkb_error *err)
{
	const struct tkb_entry *entry = emitter->batch.jobs[index].entry;
	const struct tkb_progress *progress = &emitter->progress[index];

	if (tkb_unit_record(entry) != NULL)
		return 0;
	if (!progress->has_siblings)
		return commit_written(emitter, worker, index, err);
	return progress->first_sibling != index
	               ? 0
	               : commit_siblings(emitter, worker, index, err);
}

static int commit_frame(struct tkb_emitter *emitter, size_t worker,
                        const struct tkb_frame *frame, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t *jobs = &emitter->first_jobs[frame->entries[i]];

		for (size_t j = jobs[0]; j < jobs[1] && rc == 0; j++)
			rc = commit_first(emitter, worker, j, err);
	}
	return rc;
}

/* If an entry was moved, only its paths are replaced. */
static int commit_moved(void *self, size_t worker, size_t index,
                        struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	struct tkb_job *job = &emitter->batch.jobs[index];
	const struct tkb_destination to = tkb_emit_destination(emitter, index);
	struct tkb_error fault = { 0 };
	int rc;

	if (emitter->progress[index].state != TKB_ENTRY_STATE_MOVED)
		return 0;
	rc = (to.entry->kind == TKB_KIND_UNIT ? tkb_unit_relocate
	                                      : tkb_destination_relocate)(
		&to, &emitter->loaders[worker], &fault);
	if (rc == 0)
		tkb_batch_done(&emitter->batch, job, TKB_OUTCOME_REPAIRED);
	else if (fault.reason == TKB_REASON_MISSING)
		tkb_batch_finish(&emitter->batch, job, TKB_OUTCOME_SKIPPED,
		                 TKB_REASON_BUSY, "it was removed just now");
	else
		return tkb_emit_fail(emitter, job, rc, &fault, err);
	return 0;
}

static bool has_moved(const struct tkb_emitter *emitter)
{
	for (size_t i = 0; i < emitter->batch.job_count; i++) {
		if (emitter->progress[i].state == TKB_ENTRY_STATE_MOVED)
			return true;
	}
	return false;
}

/*
 * The whole
 */

/* If the emit is synced, the commit waits until everything is written. */
static int emit_frame(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	const struct tkb_frame *frame =
		&emitter->bundle->frames[emitter->order[index]];
	struct tkb_decoder *decoder = &emitter->decoding.decoders[worker];
	int rc;

	if (!is_frame_needed(emitter, frame))
		return 0;
	tkb_decoder_hold(decoder, frame);
	rc = write_frame(emitter, worker, frame, err);
	tkb_decoder_let_go(decoder, frame);
	if (rc == 0 && !emitter->options->is_synced)
		rc = commit_frame(emitter, worker, frame, err);
	return rc;
}

/* One thread commits a frame, as above: siblings are in one frame. */
static int commit_synced(void *self, size_t worker, size_t index,
                         struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	const struct tkb_frame *frame =
		&emitter->bundle->frames[emitter->order[index]];
	const int rc = tkb_watcher_check(&emitter->batch.watcher, err);

	return rc < 0 ? rc : commit_frame(emitter, worker, frame, err);
}

static int sync_roots(const struct tkb_emitter *emitter, struct tkb_error *err)
{
	for (size_t i = 0; i < emitter->roots.count; i++) {
		const struct tkb_root *root = &emitter->roots.items[i];

		if (root->fd >= 0 && syncfs(root->fd) < 0)
			return tkb_fail_errno(err, "cannot sync '%s'",
			                      root->path);
	}
	return 0;
}

/*
 * The largest frames first. While a pull is still fetching the bundle, keep the
 * order in which they arrive.
 */
static int order_frames(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_bundle *bundle = emitter->bundle;
	TKB_AUTO(tkb_free_at)
	uint64_t *sizes = tkb_alloc_array(bundle->frame_count, sizeof(*sizes));

	if (sizes == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < bundle->frame_count; i++)
		sizes[i] = bundle->is_pinned ? 0 : bundle->frames[i].size;
	emitter->order = tkb_largest_first(sizes, bundle->frame_count);
	return emitter->order != NULL ? 0 : tkb_fail_nomem(err);
}

int tkb_emit_write(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_parallel_work frames = { emit_frame, emitter };
	const struct tkb_parallel_work commits = { commit_synced, emitter };
	struct tkb_batch *batch = &emitter->batch;
	const size_t threads = emitter->loader_count;
	int rc;

	rc = order_frames(emitter, err);
	if (rc == 0)
		rc = tkb_batch_open_stages(batch, err);
	if (rc == 0 && has_moved(emitter))
		rc = tkb_batch_run(batch, threads, commit_moved, emitter, err);
	if (rc == 0)
		rc = tkb_decoder_team_run(&emitter->decoding, emitter->bundle,
		                          &frames, err);
	if (rc == 0 && emitter->options->is_synced) {
		rc = sync_roots(emitter, err);
		if (rc == 0)
			rc = tkb_parallel(emitter->bundle->frame_count, threads,
			                  &commits, err);
	}
	if (rc == 0)
		rc = tkb_batch_run(batch, threads, commit_written, emitter,
		                   err);
	return rc < 0 || !emitter->options->is_synced
	               ? rc
	               : sync_roots(emitter, err);
}
