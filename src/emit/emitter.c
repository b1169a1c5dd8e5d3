/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/emitter.h"

#include <stdlib.h>

#include "cache/names.h"

void tkb_emitter_close(struct tkb_emitter *emitter)
{
	for (size_t i = 0; i < emitter->stage_count; i++)
		tkb_stage_close(&emitter->stages[i]);
	free(emitter->stages);
	for (size_t i = 0; i < emitter->thread_count; i++)
		tkb_loader_close(&emitter->loaders[i]);
	free(emitter->loaders);
	for (size_t i = 0; i < emitter->decoder_count; i++)
		tkb_decoder_close(&emitter->decoders[i]);
	free(emitter->decoders);
	for (size_t i = 0; i < emitter->job_count; i++)
		free(emitter->jobs[i].fault);
	free(emitter->jobs);
	free(emitter->first_jobs);
	tkb_roots_release(&emitter->roots);
	tkb_watcher_release(&emitter->watcher);
}

const struct tkb_entry *tkb_emitter_entry(const struct tkb_emitter *emitter,
                                          const struct tkb_job *job)
{
	return &emitter->bundle->manifest.entries[job->entry];
}

static void count_failure(struct tkb_emit_report *report,
                          enum tkb_reason reason)
{
	switch (reason) {
	case TKB_REASON_UNSAFE:
		report->unsafe_count++;
		break;
	case TKB_REASON_IO:
	case TKB_REASON_UNREADABLE:
		report->failed_count++;
		break;
	default:
		report->damaged_count++;
		break;
	}
}

static void count(struct tkb_emit_report *report,
                  const struct tkb_result *result)
{
	switch (result->outcome) {
	case TKB_OUTCOME_EMITTED:
		report->emitted_count++;
		break;
	case TKB_OUTCOME_PRESENT:
		report->present_count++;
		break;
	case TKB_OUTCOME_REPAIRED:
		report->repaired_count++;
		break;
	case TKB_OUTCOME_SKIPPED:
		if (result->reason == TKB_REASON_BUSY)
			report->busy_count++;
		else
			report->skipped_count++;
		break;
	default:
		count_failure(report, result->reason);
		break;
	}
}

void tkb_emitter_tell(struct tkb_emitter *emitter,
                      const struct tkb_entry *entry, const char *root,
                      enum tkb_outcome outcome, enum tkb_reason reason,
                      const char *message)
{
	const struct tkb_result result = { .root = root,
		                           .key = entry->key,
		                           .name = entry->name,
		                           .outcome = outcome,
		                           .reason = reason,
		                           .message = message };

	count(&emitter->report, &result);
	tkb_watcher_result(&emitter->watcher, &result);
}

void tkb_emitter_tell_jobs(struct tkb_emitter *emitter)
{
	for (size_t i = 0; i < emitter->job_count; i++) {
		const struct tkb_job *job = &emitter->jobs[i];

		if (job->is_done)
			tkb_emitter_tell(
				emitter, tkb_emitter_entry(emitter, job),
				emitter->roots.items[job->root].path,
				job->outcome, job->reason, job->message);
	}
	emitter->report.size = atomic_load(&emitter->written);
	tkb_watcher_finish(&emitter->watcher);
}

void tkb_emitter_finish(struct tkb_emitter *emitter, struct tkb_job *job,
                        enum tkb_outcome outcome, enum tkb_reason reason,
                        const char *message)
{
	job->outcome = outcome;
	job->reason = reason;
	job->message = message;
	job->is_done = true;
	tkb_watcher_progress(&emitter->watcher,
	                     tkb_entry_size(tkb_emitter_entry(emitter, job)));
}

/* What is wrong with a frame says which; of an entry, this does. */
static struct tkb_error damage_of(const struct tkb_emitter *emitter,
                                  const struct tkb_job *job,
                                  const struct tkb_error *fault)
{
	struct tkb_error damage = *fault;

	if (fault->reason != TKB_REASON_DAMAGED)
		(void)tkb_fail_while(&damage, TKB_ERR_CORRUPT,
		                     "'%s', entry '%s'", emitter->bundle->name,
		                     tkb_emitter_entry(emitter, job)->key);
	return damage;
}

int tkb_emitter_fail(struct tkb_emitter *emitter, struct tkb_job *job, int rc,
                     const struct tkb_error *fault, struct tkb_error *err)
{
	if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED) {
		*err = *fault;
		return rc;
	}
	if (rc == TKB_ERR_CORRUPT && fault->reason != TKB_REASON_UNSAFE) {
		(void)pthread_mutex_lock(&emitter->watcher.lock);
		if (emitter->first_damage.status == 0)
			emitter->first_damage = damage_of(emitter, job, fault);
		(void)pthread_mutex_unlock(&emitter->watcher.lock);
	}
	job->fault = strdup(fault->message);
	if (job->fault == NULL)
		return tkb_fail_nomem(err);
	tkb_emitter_finish(emitter, job, TKB_OUTCOME_FAILED,
	                   fault->reason == TKB_REASON_NONE
	                           ? TKB_REASON_IO
	                           : (enum tkb_reason)fault->reason,
	                   job->fault);
	return 0;
}
