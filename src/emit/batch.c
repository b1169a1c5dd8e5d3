/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/batch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/disable.h"
#include "base/parallel.h"

int tkb_batch_begin(struct tkb_batch *batch, bool is_enabled,
                    const struct tkb_watch *watch, uint32_t deadline_ms,
                    struct tkb_error *err)
{
	int rc;

	rc = tkb_timed_begin(&batch->timed, watch, deadline_ms, err);
	if (rc < 0)
		return rc;
	tkb_watcher_init(&batch->watcher, &batch->timed.watch, 0);
	return is_enabled || !tkb_is_disabled() ? 0 : TKB_MISS;
}

void tkb_batch_release(struct tkb_batch *batch)
{
	for (size_t i = 0; i < batch->stage_count; i++)
		tkb_stage_close(&batch->stages[i]);
	free(batch->stages);
	for (size_t i = 0; i < batch->job_count; i++)
		free(batch->jobs[i].fault);
	free(batch->jobs);
	tkb_watcher_release(&batch->watcher);
}

int tkb_batch_init_stages(struct tkb_batch *batch,
                          const struct tkb_roots *roots,
                          const struct tkb_digest *id, bool is_dry_run,
                          struct tkb_error *err)
{
	batch->roots = roots;
	batch->stages = tkb_alloc_array(roots->count, sizeof(*batch->stages));
	if (batch->stages == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < roots->count; i++) {
		struct tkb_stage *stage = &batch->stages[i];

		tkb_stage_init(stage, &roots->items[i]);
		stage->watcher = &batch->watcher;
		batch->stage_count++;
		if (roots->items[i].fd >= 0)
			tkb_stage_begin(stage, id, !is_dry_run);
	}
	return 0;
}

/* Does this error number mean that we may not write to the root? */
static bool is_refusal(int number)
{
	return number == EACCES || number == EPERM || number == EROFS ||
	       number == ENOTDIR || number == ELOOP;
}

int tkb_batch_open_stages(struct tkb_batch *batch, struct tkb_error *err)
{
	for (size_t i = 0; i < batch->job_count; i++) {
		struct tkb_job *job = &batch->jobs[i];
		struct tkb_stage *stage = &batch->stages[job->root];
		struct tkb_error fault = { 0 };
		int rc;

		if (job->is_done || stage->fd >= 0)
			continue;
		rc = tkb_stage_open(stage, &fault);
		if (rc == TKB_ERR_IO && is_refusal(errno)) {
			*err = fault;
			return rc;
		}
		if (rc < 0)
			rc = tkb_batch_fail(batch, job, TKB_OUTCOME_FAILED, rc,
			                    &fault, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int tkb_batch_add_job(struct tkb_batch *batch, const struct tkb_entry *entry,
                      size_t root, struct tkb_error *err)
{
	const struct tkb_job job = { .entry = entry,
		                     .root = root,
		                     .size = tkb_entry_size(entry) };

	return tkb_append(&batch->jobs, &batch->job_count, &batch->job_capacity,
	                  &job, sizeof(job), err);
}

void tkb_batch_set_total(struct tkb_batch *batch)
{
	for (size_t i = 0; i < batch->job_count; i++)
		batch->watcher.total += batch->jobs[i].size;
}

/* What tkb_parallel() needs to run the jobs of a batch. */
struct step {
	struct tkb_batch *batch;
	int (*do_one)(void *self, size_t worker, size_t index,
	              struct tkb_error *err);
	void *self;
};

static int run_step(void *self, size_t worker, size_t index,
                    struct tkb_error *err)
{
	const struct step *step = self;
	int rc;

	if (step->batch->jobs[index].is_done)
		return 0;
	rc = tkb_watcher_check(&step->batch->watcher, err);
	return rc < 0 ? rc : step->do_one(step->self, worker, index, err);
}

static size_t count_pending(const struct tkb_batch *batch)
{
	size_t count = 0;

	for (size_t i = 0; i < batch->job_count; i++)
		count += !batch->jobs[i].is_done;
	return count;
}

int tkb_batch_run(struct tkb_batch *batch, size_t threads,
                  int (*do_one)(void *self, size_t worker, size_t index,
                                struct tkb_error *err),
                  void *self, struct tkb_error *err)
{
	struct step step = { batch, do_one, self };
	const struct tkb_parallel_work work = { run_step, &step };

	return tkb_parallel(batch->job_count,
	                    tkb_parallel_useful(count_pending(batch), threads),
	                    &work, err);
}

void tkb_batch_finish(struct tkb_batch *batch, struct tkb_job *job,
                      enum tkb_outcome outcome, enum tkb_reason reason,
                      const char *message)
{
	job->outcome = outcome;
	job->reason = reason;
	job->message = message;
	job->is_done = true;
	tkb_watcher_progress(&batch->watcher, job->size);
}

void tkb_batch_done(struct tkb_batch *batch, struct tkb_job *job,
                    enum tkb_outcome outcome)
{
	tkb_batch_finish(batch, job, outcome, TKB_REASON_NONE, "");
}

int tkb_batch_fail(struct tkb_batch *batch, struct tkb_job *job,
                   enum tkb_outcome outcome, int rc,
                   const struct tkb_error *fault, struct tkb_error *err)
{
	const enum tkb_reason reason = (enum tkb_reason)fault->reason;

	if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED) {
		*err = *fault;
		return rc;
	}
	job->fault = strdup(fault->message);
	if (job->fault == NULL)
		return tkb_fail_nomem(err);
	tkb_batch_finish(batch, job, outcome,
	                 reason == TKB_REASON_NONE ? TKB_REASON_IO : reason,
	                 job->fault);
	return 0;
}

bool tkb_batch_is_done(const struct tkb_batch *batch)
{
	for (size_t i = 0; i < batch->job_count; i++) {
		if (!batch->jobs[i].is_done)
			return false;
	}
	return true;
}

void tkb_batch_report(struct tkb_batch *batch,
                      void (*count)(void *self,
                                    const struct tkb_result *result),
                      void *self)
{
	for (size_t i = 0; i < batch->job_count; i++) {
		const struct tkb_job *job = &batch->jobs[i];
		struct tkb_result result;

		if (!job->is_done)
			continue;
		result = (struct tkb_result){
			.root = batch->roots->items[job->root].path,
			.key = job->entry->key,
			.name = job->entry->name,
			.outcome = job->outcome,
			.reason = job->reason,
			.message = job->message,
		};
		count(self, &result);
		tkb_watcher_result(&batch->watcher, &result);
	}
}

int tkb_batch_end(const struct tkb_batch *batch, int rc,
                  const struct tkb_error *fault, struct tkb_error *err)
{
	if (fault->status != 0 && err != NULL)
		*err = *fault;
	return tkb_timed_end(&batch->timed, rc, err);
}
