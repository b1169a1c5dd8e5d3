/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_SIGNALS_H
#define TKBUNDLE_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Signals of the supervisor. All are blocked, none has a handler, and they are
 * taken one by one, with a time limit: that is all that it ever waits for.
 *
 * A blocked signal is kept for process 1, too, and SIGTTOU, blocked, does not
 * stop who prints. What we change in ourselves, the command gets back.
 *
 * The command stays in our process group. So the terminal's Ctrl-C, Ctrl-Z and
 * new sizes reach it without us, pipelines keep their terminal, and whoever
 * kills the group (a shell, timeout(1)) kills the command, too.
 */
struct run_signals {
	sigset_t all;               /* that are blocked */
	sigset_t old;               /* the mask as we got it */
	struct sigaction old_child; /* what is done about SIGCHLD: who ignores
	                               it never learns how a child ended */
};

void run_signals_block(struct run_signals *signals);

/* Give the mask back. */
void run_signals_restore(const struct run_signals *signals);

/*
 * Wait for the next signal, at most until `until_ms` of CLOCK_MONOTONIC.
 *
 * @return its number, or 0: none came
 */
int run_signals_next(const struct run_signals *signals, uint64_t until_ms,
                     siginfo_t *out);

/* Would the signal end the process if it were not blocked? */
bool run_signals_ends(int number);

/* Does it come from the terminal, or the kernel otherwise, and not by kill? */
bool run_signals_is_kernel(const siginfo_t *info);

/* Stop as the command did, until somebody continues us. */
void run_signals_stop(int number);

/* Die of it, without a core; returns where that is not possible. */
void run_signals_die(int number);

#endif
