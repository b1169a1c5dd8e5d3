/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_loop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/deadline.h"
#include "cli/fd.h"
#include "run/run_scan.h"

#define WAKE_NAP_NS 200000000 /* between looks at a command that has stopped */
#define WAKE_LOOKS 5          /* at one that goes on */

static int64_t read_clock(clockid_t id)
{
	struct timespec now = { .tv_sec = 0 };

	(void)clock_gettime(id, &now);
	return run_scan_time_ns(&now);
}

int64_t run_loop_before(void)
{
	return read_clock(CLOCK_REALTIME_COARSE);
}

int64_t run_loop_after(void)
{
	return read_clock(CLOCK_REALTIME);
}

static void note_end(struct run *run, pid_t pid, int state)
{
	if (pid == run->command) {
		run->command = 0;
		run->command_state = state;
		return;
	}

	if (pid == run->children[RUN_PULL].pid)
		run->pull_ns = run_loop_after();
	/* Other children are orphans that this process has inherited. */
	for (size_t i = 0; i < RUN_ROLE_COUNT; i++) {
		if (pid == run->children[i].pid)
			run_child_note(&run->children[i], state);
	}
}

/* Is it stopped, by a signal or a debugger? */
static bool is_stopped(pid_t pid)
{
	char path[32];
	char text[128];
	const char *name_end;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	(void)fd_read_file(AT_FDCWD, path, text, sizeof(text));
	name_end = strrchr(text, ')');
	return name_end != NULL && strncasecmp(name_end, ") T", 3) == 0;
}

/* A task: if the command is not stopped any more, and we are, continue us. */
static void wake(void *self)
{
	const struct run *const run = self;
	const struct timespec nap = { .tv_nsec = WAKE_NAP_NS };

	/* We may stop a moment after the command was continued. */
	for (int looks = 0; looks < WAKE_LOOKS; looks++) {
		(void)nanosleep(&nap, NULL);
		if (is_stopped(run->command))
			looks = 0;
		else if (is_stopped(getppid()))
			(void)kill(getppid(), SIGCONT);
	}
}

/*
 * Stop as well, so that the shell gets the terminal back. Whoever then continues
 * or kills the command alone does not continue us: a child does.
 */
static void stop_with_command(struct run *run, int number)
{
	struct run_child *const waker = &run->children[RUN_WAKE];

	/* The last one may still look, and would not be known any more. */
	run_child_kill(waker);
	(void)run_child_fork(waker, "wake", wake, run, NULL, RUN_NEVER);
	run_signals_stop(number);
}

static void reap_children(struct run *run)
{
	int state = 0;

	for (pid_t pid = waitpid(-1, &state, WNOHANG | WUNTRACED); pid > 0;
	     pid = waitpid(-1, &state, WNOHANG | WUNTRACED)) {
		if (!WIFSTOPPED(state))
			note_end(run, pid, state);
		else if (pid == run->command)
			/* SIGCONT is forwarded to the command later. */
			stop_with_command(run, WSTOPSIG(state));
	}
}

/*
 * Forward a signal to the command, unless the command has it already: the
 * terminal signals the whole group. And not if the command sent it, or wake().
 */
static void take_signal(struct run *run, int number, const siginfo_t *info)
{
	struct run_child *const waker = &run->children[RUN_WAKE];
	const bool is_kernel = run_signals_is_kernel(info);

	if (number == SIGCONT && waker->pid != 0) {
		run_child_kill(waker);
		if (info->si_pid == waker->pid)
			return;
	}

	/* Caused by a failed call of our own, like SIGXFSZ. */
	if (!is_kernel && info->si_pid == getpid())
		return;
	if (is_kernel && (number == SIGINT || number == SIGQUIT))
		run->is_interrupted = true;
	if (run->command != 0 && !is_kernel && info->si_pid != run->command)
		(void)kill(run->command, number);
	else if (run->command == 0 && number == SIGTSTP)
		run_signals_stop(number);
	else if (run->command == 0 && run_signals_ends(number))
		run->stop_signal = number;
}

void run_loop_turn(struct run *run, uint64_t until_ms)
{
	const uint64_t now = deadline_now_ms();
	siginfo_t info;
	int number;

	for (size_t i = 0; i < RUN_ROLE_COUNT; i++) {
		struct run_child *const child = &run->children[i];

		run_child_tick(child, now);
		if (child->pid != 0 && child->end_ms < until_ms)
			until_ms = child->end_ms;
	}

	number = run_signals_next(&run->signals, until_ms, &info);
	if (number == SIGCHLD)
		reap_children(run);
	else if (number > 0)
		take_signal(run, number, &info);
}

void run_loop_drain(struct run *run)
{
	siginfo_t info;
	int number = run_signals_next(&run->signals, 0, &info);

	for (; number > 0; number = run_signals_next(&run->signals, 0, &info)) {
		if (number == SIGCHLD)
			reap_children(run);
		else if (run->command == 0 || info.si_pid == getpid())
			take_signal(run, number, &info);
		else
			(void)kill(run->command, number);
	}
}

bool run_loop_wait(struct run *run, enum run_role role, uint64_t until_ms)
{
	const struct run_child *const child = &run->children[role];

	while (child->pid != 0 && run->stop_signal == 0 &&
	       deadline_now_ms() < until_ms)
		run_loop_turn(run, until_ms);
	return child->pid == 0;
}
