/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_refresh.h"

#include "cli/deadline.h"
#include "run/run_figures.h"
#include "run/run_report.h"

#define LIMIT_MS 10000 /* time limit of one count */

static void plan_next(struct run *run)
{
	const struct arguments *const args = run->args;
	const uint64_t time_ms =
		args->refresh.is_set ? args->refresh.value : RUN_REFRESH_MS;

	run->refresh_ms =
		args->metrics != NULL ? deadline_now_ms() + time_ms : RUN_NEVER;
}

void run_refresh_begin(struct run *run)
{
	run->is_stale = true;
	run->was_pulling = run->children[RUN_PULL].pid != 0;
	plan_next(run);
}

void run_refresh_pushed(struct run *run, bool had_reason)
{
	run->is_stale = true;
	run->has_news = run->has_news || run->has_push_reason != had_reason;
}

static void report_late_pull(struct run *run)
{
	const bool is_pulling = run->children[RUN_PULL].pid != 0;

	if (run->was_pulling && !is_pulling) {
		run->is_stale = true;
		run->has_news = true;
	}
	run->was_pulling = is_pulling;
}

uint64_t run_refresh_turn(struct run *run)
{
	struct run_child *const child = &run->children[RUN_FIGURES];
	const bool is_due = deadline_now_ms() >= run->refresh_ms;

	report_late_pull(run);
	if (child->pid != 0)
		return RUN_NEVER;
	if (child->has_begun && run->has_news && !run->is_stale) {
		run_report_change(run);
		run->has_news = false;
	}
	run_child_release(child);

	if (is_due ||
	    (run->is_stale && (run->has_news || run->args->metrics != NULL))) {
		run->is_stale = false;
		plan_next(run);
		(void)run_child_fork(child, "figures", run_figures_renew, run,
		                     &run->children[RUN_PULL],
		                     deadline_now_ms() + LIMIT_MS);
		/*
		 * If no process can be started, write what is known without
		 * counting again.
		 */
		return child->pid != 0 ? RUN_NEVER : deadline_now_ms();
	}
	return run->refresh_ms;
}
