/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/emit.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/disable.h"
#include "base/fd.h"
#include "base/parallel.h"
#include "base/path.h"
#include "base/struct.h"
#include "emit/emitter.h"
#include "emit/options.h"
#include "emit/install.h"

/*
 * An emit in four steps: which entry goes where (jobs); what is there now;
 * frames of which something is wanted are decoded, and their entries staged
 * and published; what was staged and not used is removed.
 */

static int open_stages(struct tkb_emitter *emitter, struct tkb_error *err)
{
	emitter->stages =
		tkb_alloc_array(emitter->roots.count, sizeof(*emitter->stages));
	if (emitter->stages == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < emitter->roots.count; i++) {
		struct tkb_stage *stage = &emitter->stages[i];

		tkb_stage_init(stage, &emitter->roots.items[i]);
		stage->watcher = &emitter->watcher;
		emitter->stage_count++;
		if (emitter->roots.items[i].fd >= 0)
			tkb_stage_begin(stage, &emitter->bundle->id,
			                !emitter->options->is_dry_run);
	}
	return 0;
}

static int open_loaders(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const size_t wanted = tkb_parallel_threads(emitter->options->threads);
	int rc;

	emitter->loaders = tkb_alloc_array(wanted, sizeof(*emitter->loaders));
	emitter->decoders = tkb_alloc_array(wanted, sizeof(*emitter->decoders));
	if (emitter->loaders == NULL || emitter->decoders == NULL)
		return tkb_fail_nomem(err);
	while (emitter->thread_count < wanted) {
		rc = tkb_loader_open(&emitter->loaders[emitter->thread_count],
		                     false, false, err);
		if (rc < 0)
			return rc;
		emitter->thread_count++;
	}
	while (emitter->decoder_count < wanted) {
		rc = tkb_decoder_open(
			&emitter->decoders[emitter->decoder_count], err);
		if (rc < 0)
			return rc;
		emitter->decoder_count++;
	}
	return 0;
}

/* Settle what needs no bytes of the bundle. */
static int note_state(struct tkb_emitter *emitter, struct tkb_job *job,
                      struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	switch (job->state) {
	case TKB_ENTRY_STATE_PRESENT:
		tkb_emitter_finish(emitter, job, TKB_OUTCOME_PRESENT,
		                   TKB_REASON_NONE, "");
		return 0;
	case TKB_ENTRY_STATE_BUSY:
		tkb_emitter_finish(emitter, job, TKB_OUTCOME_SKIPPED,
		                   TKB_REASON_BUSY,
		                   "a compiler is writing there");
		return 0;
	case TKB_ENTRY_STATE_UNSAFE:
		rc = tkb_fail_entry(&fault, TKB_REASON_UNSAFE,
		                    "'%s/%s' is not a folder",
		                    emitter->roots.items[job->root].path,
		                    tkb_emitter_entry(emitter, job)->key);
		return tkb_emitter_fail(emitter, job, rc, &fault, err);
	case TKB_ENTRY_STATE_MOVED:
	case TKB_ENTRY_STATE_BROKEN:
		if (emitter->options->is_dry_run)
			tkb_emitter_finish(emitter, job, TKB_OUTCOME_REPAIRED,
			                   TKB_REASON_NONE, "");
		return 0;
	case TKB_ENTRY_STATE_ABSENT:
		if (emitter->options->is_dry_run)
			tkb_emitter_finish(emitter, job, TKB_OUTCOME_EMITTED,
			                   TKB_REASON_NONE, "");
		return 0;
	}
	return 0;
}

static int look_one(void *self, size_t worker, size_t index,
                    struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	struct tkb_job *job = &emitter->jobs[index];
	struct tkb_loader *loader = &emitter->loaders[worker];
	struct tkb_error fault = { 0 };
	int rc;

	if (job->is_done)
		return 0;
	rc = tkb_watcher_check(&emitter->watcher, err);
	if (rc < 0)
		return rc;
	if (emitter->roots.items[job->root].fd >= 0) {
		tkb_arena_release(&loader->arena);
		rc = tkb_entry_state_look(loader,
		                          &emitter->roots.items[job->root],
		                          tkb_emitter_entry(emitter, job),
		                          emitter->stages[job->root].is_trusted,
		                          &job->state, &fault);
		if (rc < 0)
			return tkb_emitter_fail(emitter, job, rc, &fault, err);
	}
	return note_state(emitter, job, err);
}

/* A root that we may not write in is no entry's fault. */
static bool is_refusal(int number)
{
	return number == EACCES || number == EPERM || number == EROFS ||
	       number == ENOTDIR || number == ELOOP;
}

/* Make a stage in each root in which something is to be written. */
static int prepare_stages(struct tkb_emitter *emitter, struct tkb_error *err)
{
	for (size_t i = 0; i < emitter->job_count; i++) {
		struct tkb_job *job = &emitter->jobs[i];
		struct tkb_stage *stage = &emitter->stages[job->root];
		struct tkb_error fault = { 0 };
		int rc;

		if (job->is_done || stage->fd >= 0)
			continue;
		rc = tkb_stage_open(stage, &fault);
		if (rc == TKB_ERR_IO && is_refusal(errno)) {
			if (err != NULL)
				*err = fault;
			return rc;
		}
		if (rc < 0)
			rc = tkb_emitter_fail(emitter, job, rc, &fault, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct tkb_install install_of(struct tkb_emitter *emitter,
                                     const struct tkb_job *job)
{
	return (struct tkb_install){
		.stage = &emitter->stages[job->root],
		.entry = tkb_emitter_entry(emitter, job),
		.number = (size_t)(job - emitter->jobs),
	};
}

static int publish_job(struct tkb_emitter *emitter, struct tkb_loader *loader,
                       struct tkb_job *job, struct tkb_error *err)
{
	const struct tkb_install install = install_of(emitter, job);
	enum tkb_outcome outcome = TKB_OUTCOME_FAILED;
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_install_publish(&install, loader, job->state, &outcome,
	                         &fault);
	if (rc < 0)
		return tkb_emitter_fail(emitter, job, rc, &fault, err);
	if (outcome == TKB_OUTCOME_SKIPPED)
		tkb_emitter_finish(emitter, job, outcome, TKB_REASON_BUSY,
		                   "a compiler is writing there");
	else
		tkb_emitter_finish(emitter, job, outcome, TKB_REASON_NONE, "");
	return 0;
}

/* Stage entry `index` at each root that wants it. */
static int stage_entry(struct tkb_emitter *emitter, struct tkb_loader *loader,
                       size_t index, const struct tkb_bytes *files,
                       struct tkb_error *err)
{
	struct tkb_install twin = { 0 };
	bool has_twin = false;
	int rc;

	for (size_t i = emitter->first_jobs[index];
	     i < emitter->first_jobs[index + 1]; i++) {
		struct tkb_job *job = &emitter->jobs[i];
		const struct tkb_install install = install_of(emitter, job);
		struct tkb_error fault = { 0 };
		uint64_t written = 0;

		if (job->is_done || job->state == TKB_ENTRY_STATE_MOVED)
			continue;
		rc = tkb_install_stage(&install, loader, files,
		                       has_twin ? &twin : NULL, &written,
		                       &fault);
		if (rc < 0) {
			rc = tkb_emitter_fail(emitter, job, rc, &fault, err);
			if (rc < 0)
				return rc;
			continue;
		}
		job->is_staged = true;
		twin = install;
		has_twin = true;
		(void)atomic_fetch_add(&emitter->written, written);
	}
	return 0;
}

static int publish_entry(struct tkb_emitter *emitter, struct tkb_loader *loader,
                         size_t index, struct tkb_error *err)
{
	int rc;

	for (size_t i = emitter->first_jobs[index];
	     i < emitter->first_jobs[index + 1]; i++) {
		struct tkb_job *job = &emitter->jobs[i];

		if (job->is_done || !job->is_staged)
			continue;
		rc = publish_job(emitter, loader, job, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool needs_bytes(const struct tkb_emitter *emitter, size_t index)
{
	for (size_t i = emitter->first_jobs[index];
	     i < emitter->first_jobs[index + 1]; i++) {
		if (!emitter->jobs[i].is_done &&
		    emitter->jobs[i].state != TKB_ENTRY_STATE_MOVED)
			return true;
	}
	return false;
}

/* All that was to come out of a damaged frame has failed. */
static int fail_frame(struct tkb_emitter *emitter,
                      const struct tkb_frame *frame, int cause,
                      const struct tkb_error *fault, struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t index = frame->entries[i];

		for (size_t j = emitter->first_jobs[index];
		     j < emitter->first_jobs[index + 1]; j++) {
			struct tkb_job *job = &emitter->jobs[j];

			if (job->is_done || job->state == TKB_ENTRY_STATE_MOVED)
				continue;
			rc = tkb_emitter_fail(emitter, job, cause, fault, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int emit_decoded(struct tkb_emitter *emitter, size_t worker,
                        const struct tkb_frame *frame, struct tkb_error *err)
{
	const struct tkb_decoder *decoder = &emitter->decoders[worker];
	struct tkb_loader *loader = &emitter->loaders[worker];
	int rc;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t index = frame->entries[i];

		if (!needs_bytes(emitter, index))
			continue;
		rc = tkb_watcher_check(&emitter->watcher, err);
		if (rc < 0)
			return rc;
		rc = stage_entry(emitter, loader, index,
		                 decoder->files + decoder->firsts[i], err);
		if (rc < 0)
			return rc;
		if (emitter->options->is_synced)
			continue;
		rc = publish_entry(emitter, loader, index, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int emit_frame(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	const struct tkb_frame *frame = &emitter->bundle->frames[index];
	struct tkb_error fault = { 0 };
	bool wanted = false;
	int rc;

	for (size_t i = 0; i < frame->entry_count && !wanted; i++)
		wanted = needs_bytes(emitter, frame->entries[i]);
	if (!wanted)
		return 0;
	rc = tkb_watcher_check(&emitter->watcher, err);
	if (rc < 0)
		return rc;
	rc = tkb_decoder_decode(&emitter->decoders[worker], emitter->bundle,
	                        index, &fault);
	if (rc < 0) {
		if (rc == TKB_ERR_CORRUPT)
			fault.reason = TKB_REASON_DAMAGED;
		return fail_frame(emitter, frame, rc, &fault, err);
	}
	return emit_decoded(emitter, worker, frame, err);
}

static int relocate_group_one(void *self, size_t worker, size_t index,
                              struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;
	struct tkb_job *job = &emitter->jobs[index];
	const struct tkb_install install = install_of(emitter, job);
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	struct tkb_error fault = { 0 };
	int rc;

	if (job->is_done || job->state != TKB_ENTRY_STATE_MOVED)
		return 0;
	/* In it gc takes group files away: one that is gone stays away. */
	rc = tkb_stage_lock(install.stage, &lock, &fault);
	if (rc == TKB_ERR_CANCELLED)
		return tkb_emitter_fail(emitter, job, rc, &fault, err);
	rc = tkb_install_relocate_group(&install, &emitter->loaders[worker],
	                                &fault);
	if (rc < 0 && fault.reason == TKB_REASON_MISSING) {
		tkb_emitter_finish(emitter, job, TKB_OUTCOME_SKIPPED,
		                   TKB_REASON_BUSY,
		                   "it was taken away just now");
		return 0;
	}
	if (rc < 0)
		return tkb_emitter_fail(emitter, job, rc, &fault, err);
	tkb_emitter_finish(emitter, job, TKB_OUTCOME_REPAIRED, TKB_REASON_NONE,
	                   "");
	return 0;
}

static int publish_one(void *self, size_t worker, size_t index,
                       struct tkb_error *err)
{
	struct tkb_emitter *emitter = self;

	return publish_entry(emitter, &emitter->loaders[worker], index, err);
}

static int sync_roots(struct tkb_emitter *emitter, struct tkb_error *err)
{
	for (size_t i = 0; i < emitter->roots.count; i++) {
		if (emitter->roots.items[i].fd >= 0 &&
		    syncfs(emitter->roots.items[i].fd) < 0)
			return tkb_fail_errno(err, "cannot sync '%s'",
			                      emitter->roots.items[i].path);
	}
	return 0;
}

static int write_all(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_parallel_work frames = { emit_frame, emitter };
	const struct tkb_parallel_work moved = { relocate_group_one, emitter };
	const struct tkb_parallel_work staged = { publish_one, emitter };
	const size_t threads = emitter->thread_count;
	int rc;

	rc = prepare_stages(emitter, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->job_count, threads, &moved, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->bundle->frame_count, threads, &frames, err);
	if (rc < 0 || !emitter->options->is_synced)
		return rc;

	rc = sync_roots(emitter, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->bundle->manifest.entry_count, threads,
	                  &staged, err);
	if (rc < 0)
		return rc;
	return sync_roots(emitter, err);
}

static bool is_settled(const struct tkb_emitter *emitter)
{
	for (size_t i = 0; i < emitter->job_count; i++) {
		if (!emitter->jobs[i].is_done)
			return false;
	}
	return true;
}

/* Only an emit of all that is whole afterwards says something of a bundle. */
static void mark_trusted(const struct tkb_emitter *emitter)
{
	const struct tkb_emit_report *report = &emitter->report;

	if (emitter->bundle->fault.status != 0 ||
	    emitter->options->is_dry_run || emitter->options->key_count != 0 ||
	    emitter->options->target_count != 0 || report->failed_count != 0 ||
	    report->damaged_count != 0 || report->unsafe_count != 0 ||
	    report->busy_count != 0)
		return;
	for (size_t i = 0; i < emitter->stage_count; i++)
		tkb_stage_trust(&emitter->stages[i], &emitter->bundle->id);
}

static uint64_t job_bytes(const struct tkb_emitter *emitter)
{
	uint64_t total = 0;

	for (size_t i = 0; i < emitter->job_count; i++)
		total += tkb_entry_size(
			tkb_emitter_entry(emitter, &emitter->jobs[i]));
	return total;
}

static int emit(struct tkb_emitter *emitter, const char *path,
                struct tkb_error *err)
{
	const struct tkb_parallel_work look = { look_one, emitter };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf full = TKB_BUF_INIT(64 * TKB_KIB);
	const char *root;
	int rc;

	rc = tkb_path_absolute(path, &full, err);
	if (rc < 0)
		return rc;
	tkb_buf_add_byte(&full, '\0');
	rc = tkb_buf_check(&full, err);
	if (rc < 0)
		return rc;
	root = (const char *)full.data;

	rc = tkb_emitter_choose_layout(emitter, root, err);
	if (rc < 0)
		return rc;
	rc = tkb_emitter_plan(emitter, root, err);
	if (rc != 0)
		return rc;
	emitter->watcher.total = job_bytes(emitter);
	rc = tkb_emitter_skip_twins(emitter, err);
	if (rc < 0)
		return rc;
	rc = open_stages(emitter, err);
	if (rc < 0)
		return rc;
	rc = open_loaders(emitter, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->job_count, emitter->thread_count, &look,
	                  err);
	if (rc < 0 || is_settled(emitter))
		return rc;
	return write_all(emitter, err);
}

/* What is damaged is said once more, by the status. */
static int damage(const struct tkb_emitter *emitter, struct tkb_error *err)
{
	struct tkb_error fault = emitter->first_damage;

	if (fault.status == 0 && emitter->bundle->fault.status != 0) {
		fault = emitter->bundle->fault;
		(void)tkb_fail_while(&fault, TKB_ERR_CORRUPT, "'%s'",
		                     emitter->bundle->name);
	}
	if (fault.status == 0)
		return 0;
	if (err != NULL)
		*err = fault;
	return TKB_ERR_CORRUPT;
}

int tkb_emit_options_read(struct tkb_emit_options *out,
                          const struct tkb_emit_options *given,
                          struct tkb_error *err)
{
	return TKB_STRUCT_READ(tkb_emit_options, watch, out, given, err);
}

int tkb_emit(const struct tkb_bundle *bundle, const char *cache_root,
             const struct tkb_emit_options *options,
             struct tkb_emit_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_emitter_close)
	struct tkb_emitter emitter = { .bundle = bundle };
	struct tkb_emit_options chosen;
	struct tkb_error own = { 0 };
	struct tkb_timed timed;
	int rc;

	rc = tkb_emit_options_read(&chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_emit_report, size, report, err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!chosen.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_emit_report, report, &emitter.report);
		return 0;
	}
	emitter.options = &chosen;
	tkb_watcher_init(&emitter.watcher, &timed.watch, 0);
	rc = emit(&emitter, cache_root, &own);
	tkb_emitter_tell_jobs(&emitter);
	if (rc != 0) {
		if (err != NULL)
			*err = own;
		return tkb_timed_end(&timed, rc, err);
	}
	mark_trusted(&emitter);
	TKB_STRUCT_WRITE(tkb_emit_report, report, &emitter.report);
	return damage(&emitter, err);
}
