/* SPDX-License-Identifier: Apache-2.0 */
#include "run_never.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deadline.h"
#include "run_loop.h"
#include "run_verbs.h"

#define PART_MS 500 /* for what was killed to be gone */

/* The only thing that the keeper does, until the pull has ended. */
static void look_after_pull(struct run *run)
{
	struct run_shared *const shared = run->shared;
	struct run_child *const child = &run->children[RUN_PULL];

	(void)setpgid(0, 0);
	run_signals_block(&run->signals);
	/* What else there is belongs to the one that started us. */
	run->children[RUN_TASK] = (struct run_child){ .pid = 0 };
	(void)run_verbs_pull(run, run->start_ms + shared->plan.deadline_ms);
	shared->pull_error = child->error;
	shared->pulling = child->pid;
	while (child->pid != 0) {
		if (run->stop_signal != 0)
			run_child_stop(child, deadline_now_ms());
		run_loop_turn(run, RUN_NEVER);
	}
	shared->pull_state = child->state;
	shared->has_pull_state = true;
}

static void keep(void *self)
{
	struct run *const run = self;
	const pid_t pid = fork();
	int state;

	if (pid == 0) {
		look_after_pull(run);
		_exit(0);
	}
	run->shared->keeper = pid;
	if (pid > 0)
		(void)waitpid(pid, &state, 0);
}

bool run_never_pull(struct run *run)
{
	struct run_child *const child = &run->children[RUN_PULL];

	return run_child_prepare(child, "pull") &&
	       run_child_fork(&run->children[RUN_TASK], "pull", keep, run,
	                      child, RUN_NEVER);
}

static bool gets_orphans(void)
{
	int is_reaper = 0;

	return getpid() == 1 ||
	       (prctl(PR_GET_CHILD_SUBREAPER, &is_reaper) == 0 &&
	        is_reaper != 0);
}

static void kill_pull(const struct run_shared *shared)
{
	if (shared->keeper > 0)
		(void)kill(shared->keeper, SIGKILL);
	if (shared->pulling > 0)
		(void)kill(shared->pulling, SIGKILL);
}

void run_never_part(struct run *run, bool may_go_on)
{
	const struct run_shared *const shared = run->shared;
	struct run_child *const task = &run->children[RUN_TASK];
	struct run_child *const child = &run->children[RUN_PULL];
	const uint64_t end_ms = deadline_now_ms() + PART_MS;
	const bool has_ended = shared->has_pull_state;

	if (!has_ended && (!may_go_on || gets_orphans()))
		kill_pull(shared);
	run->stop_signal = may_go_on ? run->stop_signal : 0;
	run_child_kill(task);
	(void)run_loop_wait(run, RUN_TASK, end_ms);
	if (!has_ended && gets_orphans()) {
		while (waitpid(-1, NULL, WNOHANG) >= 0 &&
		       deadline_now_ms() < end_ms)
			(void)usleep(1000);
	}

	child->error = child->error != 0 ? child->error : shared->pull_error;
	child->state = shared->pull_state;
	run->is_late = !has_ended;
}
