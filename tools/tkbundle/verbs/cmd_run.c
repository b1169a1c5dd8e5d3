/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "cli/deadline.h"
#include "run/run_command.h"
#include "run/run_count.h"
#include "run/run_engine.h"
#include "run/run_figures.h"
#include "run/run_links.h"
#include "run/run_loop.h"
#include "run/run_note.h"
#include "run/run_ready.h"
#include "run/run_refresh.h"
#include "run/run_report.h"
#include "run/run_root.h"
#include "run/run_verbs.h"
#include "run/run_watch.h"
#include "starts/starts_leave.h"
#include "starts/starts_moment.h"

#define SIGNAL_STATUS 128 /* plus the signal's number, as in a shell */
#define LOOK_MS 250       /* least time to examine the root */
#define LEARN_MS 200      /* to list what is there: least time, and most */
#define LEARN_MOST_MS 1000
#define FIGURES_MS 500 /* to write a file with figures */
#define NOTE_MS 3000   /* to write the note of the start */
#define KILL_MS 100    /* for a killed child to end */
#define END_MS 1500    /* for a child that was told to end */

static const struct option_spec options[] = {
	{ OPTION(TEXT, "ref", "REF", ref, "share kernels under this name"),
	  .is_required = true },
	{ OPTION(SECRET, "remote", "URL[,URL...]", remote,
	         "the remote; by default $TKBUNDLE_REMOTE"),
	  .is_required = true },
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_TRUST,
	{ OPTION(TEXT, "cache", "CACHE_ROOT", cache,
	         "the cache; by default the one that emit uses") },
	{ OPTION(TIME, "wait", "TIME", wait,
	         "start the command no later than this; default 2s") },
	{ OPTION(TIME, "deadline", "TIME", deadline,
	         "end a pull or push after this time; default 30s"),
	  .min = 1 },
	{ OPTION(WORD, "push", CONFIG_PUSH_WORDS, push,
	         "when to push new kernels; default always") },
	{ OPTION(TEXT, "ready-url", "URL", ready_url,
	         "push when this answers: http://127.0.0.1:8000/health") },
	{ OPTION(TEXT, "ready-file", "PATH", ready_file,
	         "push when this file appears, or is written again") },
	{ OPTION(TIME, "quiet", "TIME", quiet,
	         "push new entries within this time; default 5s"),
	  .min = 1 },
	{ OPTION(SWITCH, "require-warm", NULL, requires_warm,
	         "exit with 4 if the command compiled something") },
	{ OPTION(SWITCH, "kill-child", NULL, is_kill_child,
	         "kill the command if tkbundle is killed") },
	{ OPTION(TEXT, "node", "NAME", node,
	         "the name of this machine in reports of starts") },
	ARGS_METRICS,
	{ OPTION(TIME, "refresh", "TIME", refresh,
	         "update the metrics this often; default 30s"),
	  .min = 1 },
	{ OPTION(SWITCH, "json", NULL, is_json,
	         "print JSON documents, not lines, to standard error") },
	ARGS_VERBOSE("say which engine it is, and which variables are set"),
};

static void release_children(struct run *run)
{
	for (size_t i = 0; i < RUN_ROLE_COUNT; i++)
		run_child_release(&run->children[i]);
	if (run->shared != NULL)
		(void)munmap(run->shared, sizeof(*run->shared));
}

static bool start_supervision(struct run *run)
{
	void *const shared =
		mmap(NULL, sizeof(*run->shared), PROT_READ | PROT_WRITE,
	             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (shared == MAP_FAILED)
		return false;
	run->shared = shared;
	run->start_ms = deadline_now_ms();
	run_signals_block(&run->signals);
	return true;
}

static uint64_t soonest(uint64_t one_ms, uint64_t other_ms)
{
	return one_ms < other_ms ? one_ms : other_ms;
}

/*
 * Before the command. The time of `--wait` begins at `start_ms`: half of it is to
 * choose the root, half of what is then left to gather kernels, and the pull and
 * the lists of what exists end with it. The first two have at least LOOK_MS.
 */

/* Run `task` in a fork, which is killed at `until_ms`. */
static void do_task(struct run *run, void (*task)(void *self),
                    const struct run_child *other, uint64_t until_ms)
{
	struct run_child *const child = &run->children[RUN_TASK];

	if (!run_child_fork(child, "task", task, run, other, until_ms))
		return;
	if (run_loop_wait(run, RUN_TASK, until_ms))
		return;
	run_child_kill(child);
	(void)run_loop_wait(run, RUN_TASK, deadline_now_ms() + KILL_MS);
}

/*
 * Load the configuration and choose the root in half of the time. If that
 * hangs, the rest is for a pull into another root.
 */
static void choose_plan(struct run *run)
{
	struct run_plan *const made = &run->shared->plan;
	uint64_t half_ms;

	run_root_assume(run->args, made);
	half_ms = made->wait_ms / 2 > LOOK_MS ? made->wait_ms / 2 : LOOK_MS;
	do_task(run, run_root_plan, NULL, run->start_ms + half_ms);
	if (!made->is_made && run->stop_signal == 0)
		do_task(run, run_root_flee, NULL,
		        deadline_now_ms() + half_ms / 4);
	made->has_root = made->has_root && made->is_made;
	if (made->is_made)
		run_engine_set(made);
}

/*
 * Gather kernels that an engine has put where it does not look for them, for at
 * most half of the time that is left. The pull need not fetch these.
 */
static void gather_kernels(struct run *run)
{
	struct run_shared *const shared = run->shared;
	const uint64_t now = deadline_now_ms();
	const uint64_t end_ms = run->start_ms + shared->plan.wait_ms;
	const uint64_t half_ms = end_ms > now ? (end_ms - now) / 2 : 0;

	if (!shared->plan.has_root || !shared->plan.has_trees ||
	    shared->plan.is_inductor || run->stop_signal != 0)
		return;
	/* Report this unless the task succeeds. */
	(void)snprintf(shared->links_error, sizeof(shared->links_error),
	               "not done in time");
	do_task(run, run_links_gather, NULL,
	        now + (half_ms > LOOK_MS ? half_ms : LOOK_MS));
}

/* When a list of the existing entries must be made. */
static uint64_t list_until(const struct run *run)
{
	const uint64_t wait_ms = run->shared->plan.wait_ms;
	const uint64_t most_ms = soonest(LEARN_MOST_MS, wait_ms / 10);

	return soonest(run->start_ms + wait_ms,
	               deadline_now_ms() +
	                       (most_ms > LEARN_MS ? most_ms : LEARN_MS));
}

/* List the existing entries until the pull has ended: then that is done anew. */
static void list_early(struct run *run)
{
	struct run_child *const child = &run->children[RUN_TASK];
	const uint64_t until_ms = list_until(run);

	if (!run_child_fork(child, "task", run_watch_learn_early, run, NULL,
	                    until_ms))
		return;
	while (child->pid != 0 && run->children[RUN_PULL].pid != 0 &&
	       run->stop_signal == 0 && deadline_now_ms() < until_ms)
		run_loop_turn(run, until_ms);
	run_child_kill(child);
	(void)run_loop_wait(run, RUN_TASK, deadline_now_ms() + KILL_MS);
}

/* If the pull does not end in time, what was listed meanwhile counts. */
static void pull_before_command(struct run *run)
{
	const struct run_plan *const made = &run->shared->plan;
	const uint64_t end_ms = run->start_ms + made->wait_ms;

	if (!made->has_root || run->stop_signal != 0 ||
	    !run_verbs_pull(run, run->start_ms + made->deadline_ms))
		return;
	if (deadline_now_ms() < end_ms)
		list_early(run);
	run->is_late = !run_loop_wait(run, RUN_PULL, end_ms);
}

static void list_present(struct run *run)
{
	const uint64_t end_ms = run->start_ms + run->shared->plan.wait_ms;

	if (run->shared->plan.has_root && run->stop_signal == 0 &&
	    deadline_now_ms() < end_ms)
		do_task(run, run_watch_learn, NULL, list_until(run));
}

/* End all children; kill those that do not end in time. */
static void end_children(struct run *run)
{
	const uint64_t end_ms = deadline_now_ms() + END_MS;

	run->stop_signal = 0;
	run_child_kill(&run->children[RUN_WATCH]);
	run_child_kill(&run->children[RUN_FIGURES]);
	run_child_stop(&run->children[RUN_PULL], deadline_now_ms());
	run_child_stop(&run->children[RUN_PUSH], deadline_now_ms());
	(void)run_loop_wait(run, RUN_PULL, end_ms);
	(void)run_loop_wait(run, RUN_PUSH, end_ms);
	for (size_t i = 0; i < RUN_ROLE_COUNT; i++)
		run_child_kill(&run->children[i]);
}

/* A signal came before the command was started. */
static enum status end_early(struct run *run)
{
	const int number = run->stop_signal;

	end_children(run);
	if (run->is_interrupted && getpid() != 1)
		run_signals_die(number);
	return (enum status)(SIGNAL_STATUS + number);
}

static enum status status_of_command(const struct run *run)
{
	const int state = run->command_state;

	return (enum status)(WIFEXITED(state)
	                             ? WEXITSTATUS(state)
	                             : SIGNAL_STATUS + WTERMSIG(state));
}

static void start_push(struct run *run, uint64_t settle_ms, uint64_t end_ms)
{
	run->is_dirty = false;
	(void)run_verbs_push(run, settle_ms, end_ms);
}

/*
 * While the command runs, a watch waits for new entries, then a push uploads
 * them, then a watch waits again.
 *
 * @return false: no watch can be started
 */
static bool keep_pushing(struct run *run)
{
	struct run_child *const watch = &run->children[RUN_WATCH];
	struct run_child *const push = &run->children[RUN_PUSH];
	int status = 0;

	if (run->children[RUN_PULL].pid != 0 || watch->pid != 0 ||
	    push->pid != 0)
		return true;
	if (push->has_begun) {
		const bool had_reason = run->has_push_reason;

		run_report_push(run);
		run_child_release(push);
		run_refresh_pushed(run, had_reason);
		starts_moment_pushed(run);
	}
	if (!watch->has_begun)
		return run_child_fork(watch, "watch", run_watch_wait, run,
		                      &run->children[RUN_PULL], RUN_NEVER);
	if (!run_child_has_exited(watch, &status) || status != 0)
		return false;

	run_child_release(watch);
	run->shared->told_size = run->shared->name_size;
	run->shared->told_ns = run->shared->learnt_ns;
	start_push(run, run->shared->plan.quiet_ms,
	           deadline_now_ms() + run->shared->plan.deadline_ms);
	return true;
}

static void supervise(struct run *run)
{
	const struct run_plan *const made = &run->shared->plan;
	bool is_watching = made->push == RUN_PUSH_ALWAYS && made->has_root;

	run_refresh_begin(run);
	starts_moment_begin(run);
	while (run->command != 0) {
		if (is_watching)
			is_watching = keep_pushing(run);
		run_loop_turn(run, soonest(run_refresh_turn(run),
		                           starts_moment_turn(run)));
	}
}

/*
 * Push the remaining entries at the end. A command that did not succeed, for
 * example because it was killed, may have been writing: files that it wrote a
 * moment ago are left out.
 */
static void push_rest(struct run *run, uint64_t end_ms)
{
	const struct run_counts *const counts = &run->shared->counts;
	struct run_child *const push = &run->children[RUN_PUSH];

	if (run->shared->plan.push == RUN_PUSH_NEVER || run->stop_signal != 0 ||
	    !counts->is_made || (!run->is_dirty && !counts->has_new))
		return;
	do_task(run, run_note_makers, &run->children[RUN_PULL],
	        soonest(end_ms, deadline_now_ms() + NOTE_MS));
	start_push(run,
	           status_of_command(run) != STATUS_DONE
	                   ? run->shared->plan.quiet_ms
	                   : 0,
	           end_ms);
	(void)run_loop_wait(run, RUN_PUSH, end_ms);
	if (push->pid != 0)
		end_children(run);
	run_report_push(run);
}

/*
 * Leave a report of the start for the fleet. If that is impossible, it is not a
 * failure.
 */
static void leave_report(struct run *run)
{
	if (!starts_moment_can(run) || run->stop_signal != 0)
		return;
	/* Report this unless the task succeeds. */
	(void)snprintf(run->shared->leave_error,
	               sizeof(run->shared->leave_error), "not done after %d s",
	               STARTS_LEAVE_MS / 1000);
	do_task(run, starts_leave, &run->children[RUN_PULL],
	        deadline_now_ms() + STARTS_LEAVE_MS);
	if (run->args->is_verbose && run->shared->leave_error[0] != '\0')
		cli_say(run->cli, "no report of this start: %s",
		        run->shared->leave_error);
}

static void write_metrics(struct run *run)
{
	if (run->args->metrics == NULL)
		return;
	/* Report this unless the task succeeds. */
	(void)snprintf(
		run->shared->metrics_error, sizeof(run->shared->metrics_error),
		"'%.400s' cannot be written in time", run->args->metrics);
	do_task(run, run_figures_measure, &run->children[RUN_PULL],
	        deadline_now_ms() + FIGURES_MS);
}

/* The command has ended: count and push the rest within the deadline. */
static void finish_run(struct run *run)
{
	const struct run_plan *const made = &run->shared->plan;
	const uint64_t now = deadline_now_ms();
	const uint64_t end_ms = now + made->deadline_ms;
	struct run_child *const watch = &run->children[RUN_WATCH];

	run->stop_signal = 0;
	run_child_kill(watch);
	run_child_kill(&run->children[RUN_FIGURES]);
	run_child_kill(&run->children[RUN_HOLD]);
	run_child_kill(&run->children[RUN_LEAVE]);
	run_child_stop(&run->children[RUN_PULL], now);
	(void)run_loop_wait(run, RUN_PUSH, end_ms);
	(void)run_loop_wait(run, RUN_PULL, soonest(end_ms, now + END_MS));
	(void)run_loop_wait(run, RUN_WATCH, soonest(end_ms, now + END_MS));
	(void)run_loop_wait(run, RUN_FIGURES, soonest(end_ms, now + END_MS));
	run->is_dirty =
		run->is_dirty || (watch->has_begun && WIFEXITED(watch->state) &&
	                          watch->pid == 0);
	if (run->children[RUN_PUSH].pid != 0)
		end_children(run);
	run_report_push(run);
	run_child_release(&run->children[RUN_PUSH]);

	if (made->has_root)
		do_task(run, run_count_to_push, &run->children[RUN_PULL],
		        soonest(end_ms,
		                deadline_now_ms() + made->deadline_ms / 2));
	if (made->has_root)
		push_rest(run, end_ms);
	if (made->has_root)
		do_task(run, run_note, &run->children[RUN_PULL],
		        deadline_now_ms() + NOTE_MS);
	end_children(run);
}

static enum status exit_as_command(const struct run *run)
{
	const int state = run->command_state;

	/* Die of the signal, so that a shell script ends, too. */
	if (run->is_interrupted && getpid() != 1 && WIFSIGNALED(state) &&
	    (WTERMSIG(state) == SIGINT || WTERMSIG(state) == SIGQUIT))
		run_signals_die(WTERMSIG(state));
	return status_of_command(run);
}

/* The command could not be started, so nothing was compiled. */
static enum status end_without_command(struct run *run)
{
	end_children(run);
	write_metrics(run);
	if (run->args->is_json)
		run_report_end(run, (int)status_of_command(run));
	else
		(void)run_command_failed(run->cli, run->args,
		                         run->shared->exec_error);
	if (!run->args->is_json && run->shared->metrics_error[0] != '\0')
		cli_say(run->cli, "%s", run->shared->metrics_error);
	return status_of_command(run);
}

static enum status run_beside(struct run *run)
{
	/* Inherit the command's orphans. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (run->shared->plan.has_trees && run->stop_signal == 0)
		(void)run_child_fork(&run->children[RUN_HOLD], "hold", run_hold,
		                     run, NULL, RUN_NEVER);
	gather_kernels(run);
	pull_before_command(run);
	if (run->children[RUN_PULL].pid == 0)
		list_present(run);
	run_loop_drain(run);
	if (run->stop_signal != 0)
		return end_early(run);

	run->command_ns = run_loop_before();
	run->delay_ms = deadline_now_ms() - run->start_ms;
	run_report_start(run);
	if (!run_command_start(run)) {
		cli_say(run->cli, "not supervised: cannot start a process");
		(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
		return run_command_become(run);
	}
	supervise(run);
	if (run->shared->exec_error != 0)
		return end_without_command(run);
	finish_run(run);
	write_metrics(run);
	leave_report(run);
	if (run->args->requires_warm && status_of_command(run) == STATUS_DONE &&
	    !run_report_is_warm(run)) {
		run_report_end(run, STATUS_PARTIAL);
		return STATUS_PARTIAL;
	}
	run_report_end(run, (int)status_of_command(run));
	return exit_as_command(run);
}

static enum status run_command(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(release_children)
	struct run run = { .cli = cli, .args = args };

	if (args->refresh.is_set && args->metrics == NULL)
		return cli_misused(cli, "'--refresh' needs '--metrics'");
	if (cli_exclude(cli, args->is_verbose, "--verbose", args->is_json,
	                "--json") != STATUS_DONE ||
	    run_ready_check(cli, args) != STATUS_DONE)
		return STATUS_USAGE;
	if (cli_is_disabled(cli))
		return run_command_become_alone(cli, args);
	if (!start_supervision(&run)) {
		cli_say(cli, "not supervised: out of memory");
		return run_command_become_alone(cli, args);
	}

	choose_plan(&run);
	if (run.stop_signal != 0)
		return end_early(&run);
	if (args->is_verbose && run.shared->plan.is_made)
		run_engine_say(&run);
	return run_beside(&run);
}

const struct command command_run = {
	.name = "run",
	.operands = { "COMMAND" },
	.required_operands = 1,
	.repeats_operand = true,
	.takes_command = true,
	.summary = "run a command with a warm cache and share what it compiles",
	.details = "Pulls into the cache, starts the command, pushes what it "
		   "compiles, and exits as it does. The command runs whatever "
		   "fails or hangs, and starts no later than --wait allows. "
		   "The last line on standard error is a summary.",
	COMMAND_OPTIONS(options),
	.run = run_command,
};
