/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/emitter.h"

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

static void count_result(void *self, const struct tkb_result *result)
{
	struct tkb_emit_report *report = self;

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

/* An entry that was not selected has no job. */
static void report_skipped(struct tkb_emitter *emitter, size_t index)
{
	const struct tkb_entry *entry =
		&emitter->bundle->manifest.entries[index];
	struct tkb_result result = {
		.root = emitter->path.size == 0
		                ? ""
		                : (const char *)emitter->path.data,
		.key = entry->key,
		.name = entry->name,
		.outcome = TKB_OUTCOME_SKIPPED,
		.reason = TKB_REASON_TARGET,
		.message = "another target",
	};

	if (emitter->selections[index] == TKB_SELECTION_PLATFORM) {
		result.reason = TKB_REASON_PLATFORM;
		result.message = tkb_gpu_is_platform(entry->platform)
		                         ? entry->platform
		                         : "another platform";
	}
	if (emitter->selections[index] == TKB_SELECTION_TREE) {
		result.reason = TKB_REASON_TREE;
		result.message = "no folder was given for it";
	}
	count_result(&emitter->report, &result);
	tkb_watcher_result(&emitter->batch.watcher, &result);
}

void tkb_emit_report(struct tkb_emitter *emitter)
{
	const size_t count = emitter->bundle->manifest.entry_count;

	/* If the emit failed before it had a plan, there are no results. */
	for (size_t i = 0; i < count && emitter->first_jobs != NULL; i++) {
		if (emitter->selections[i] != TKB_SELECTION_NONE &&
		    emitter->selections[i] != TKB_SELECTION_TAKE)
			report_skipped(emitter, i);
	}
	tkb_batch_report(&emitter->batch, count_result, &emitter->report);
	emitter->report.size = atomic_load(&emitter->written_size);
	tkb_watcher_finish(&emitter->batch.watcher);
}

/*
 * Make a message about damage. For a damaged frame it already names the frame;
 * otherwise, add the entry's key.
 */
static struct tkb_error damage_of(const struct tkb_emitter *emitter,
                                  const struct tkb_job *job,
                                  const struct tkb_error *fault)
{
	struct tkb_error damage = *fault;

	if (fault->reason != TKB_REASON_DAMAGED)
		(void)tkb_fail_while(&damage, TKB_ERR_CORRUPT,
		                     "'%s', entry '%s'", emitter->bundle->name,
		                     job->entry->key);
	return damage;
}

int tkb_emit_fail(struct tkb_emitter *emitter, struct tkb_job *job, int rc,
                  const struct tkb_error *fault, struct tkb_error *err)
{
	struct tkb_watcher *watcher = &emitter->batch.watcher;

	/* Not a failure: the inputs of this build differ on this machine. */
	if (fault->reason == TKB_REASON_INPUTS)
		return tkb_batch_fail(&emitter->batch, job, TKB_OUTCOME_SKIPPED,
		                      rc, fault, err);
	if (rc == TKB_ERR_CORRUPT && fault->reason != TKB_REASON_UNSAFE) {
		(void)pthread_mutex_lock(&watcher->lock);
		if (emitter->first_damage.status == 0)
			emitter->first_damage = damage_of(emitter, job, fault);
		(void)pthread_mutex_unlock(&watcher->lock);
	}
	return tkb_batch_fail(&emitter->batch, job, TKB_OUTCOME_FAILED, rc,
	                      fault, err);
}

int tkb_emit_damage(const struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_error *fault = &emitter->first_damage;

	if (fault->status == 0)
		fault = &emitter->bundle->fault;
	return fault->status == 0 ? 0
	                          : tkb_fail_as(err, TKB_ERR_CORRUPT, fault);
}
