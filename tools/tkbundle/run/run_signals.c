/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_signals.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/auto.h"
#include "cli/deadline.h"

void run_signals_block(struct run_signals *signals)
{
	/*
	 * These report faults of the program: blocked, a fault would repeat
	 * forever.
	 */
	static const int faults[] = { SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
		                      SIGTRAP, SIGABRT, SIGSYS };
	struct sigaction action;

	(void)memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	(void)sigaction(SIGCHLD, &action, &signals->old_child);
	(void)sigfillset(&signals->all);
	for (size_t i = 0; i < TKB_COUNT_OF(faults); i++)
		(void)sigdelset(&signals->all, faults[i]);
	(void)sigprocmask(SIG_BLOCK, &signals->all, &signals->old);
}

void run_signals_restore(const struct run_signals *signals)
{
	(void)sigaction(SIGCHLD, &signals->old_child, NULL);
	(void)sigprocmask(SIG_SETMASK, &signals->old, NULL);
}

int run_signals_next(const struct run_signals *signals, uint64_t until_ms,
                     siginfo_t *out)
{
	for (;;) {
		const uint64_t now = deadline_now_ms();
		const uint64_t left = until_ms > now ? until_ms - now : 0;
		/* Limit the wait: `until_ms` may be far away. */
		const uint64_t wait = left < 3600000 ? left : 3600000;
		const struct timespec time = {
			.tv_sec = (time_t)(wait / 1000),
			.tv_nsec = (long)(wait % 1000) * 1000000,
		};
		const int number = sigtimedwait(&signals->all, out, &time);

		if (number > 0)
			return number;
		if (errno != EINTR)
			return 0;
	}
}

bool run_signals_ends(int number)
{
	static const int others[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH,
		                      SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction action;

	for (size_t i = 0; i < TKB_COUNT_OF(others); i++) {
		if (number == others[i])
			return false;
	}

	/* A signal that nohup(1) or a shell made us ignore stays ignored. */
	return sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler != SIG_IGN;
}

bool run_signals_is_kernel(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL;
}

void run_signals_stop(int number)
{
	sigset_t only;

	(void)sigemptyset(&only);
	(void)sigaddset(&only, number);
	(void)raise(number);
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL); /* the process stops
	                                                here */
	(void)sigprocmask(SIG_BLOCK, &only, NULL);
}

void run_signals_die(int number)
{
	const struct rlimit no_core = { .rlim_cur = 0 };
	sigset_t only;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(number, SIG_DFL);
	(void)sigemptyset(&only);
	(void)sigaddset(&only, number);
	(void)raise(number);
	(void)sigprocmask(SIG_UNBLOCK, &only, NULL);
}
