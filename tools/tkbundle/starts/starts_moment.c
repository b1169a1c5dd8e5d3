/* SPDX-License-Identifier: Apache-2.0 */
#include "starts/starts_moment.h"

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/deadline.h"
#include "run/run_count.h"
#include "run/run_note.h"
#include "run/run_ready.h"
#include "starts/starts_leave.h"

enum {
	QUIET_TIMES = 12, /* quiet times after the start, by default a minute */
	LIMIT_MS = 10000, /* time limit for a count, a note and a report */
	NICENESS = 10
};

bool starts_moment_can(const struct run *run)
{
	const struct run_plan *const plan = &run->shared->plan;

	return plan->has_root && plan->has_remote && plan->has_ref;
}

void starts_moment_begin(struct run *run)
{
	if (getrandom(&run->id, sizeof(run->id), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(run->id))
		run->id = (uint64_t)run->command_ns ^ (uint64_t)getpid();
	run->leave_ms = RUN_NEVER;
	if (starts_moment_can(run))
		run->leave_ms = deadline_now_ms() +
		                QUIET_TIMES * run->shared->plan.quiet_ms;
}

void starts_moment_pushed(struct run *run)
{
	if (starts_moment_can(run) && !run->has_pushed)
		run->leave_ms = deadline_now_ms();
	run->has_pushed = true;
}

static void report_moment(void *self)
{
	(void)setpriority(PRIO_PROCESS, 0, NICENESS);
	run_count(self);
	run_note(self);
	starts_leave(self);
}

uint64_t starts_moment_turn(struct run *run)
{
	struct run_child *const child = &run->children[RUN_LEAVE];
	const struct run_shared *const shared = run->shared;
	const uint64_t now = deadline_now_ms();

	if (now < run->leave_ms)
		return run->leave_ms;
	/* Before a server is ready, the report would be incomplete. */
	if (child->pid != 0 ||
	    (run_ready_is_asked(&shared->plan) && shared->ready_ms == 0)) {
		run->leave_ms = now + shared->plan.quiet_ms;
		return run->leave_ms;
	}
	run->leave_ms = RUN_NEVER;
	(void)run_child_fork(child, "leave", report_moment, run,
	                     &run->children[RUN_PULL], now + LIMIT_MS);
	return run->leave_ms;
}
