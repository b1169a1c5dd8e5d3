/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_SIGNALS_H
#define TKBUNDLE_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Signals of the supervisor. All are blocked, there are no handlers, and the
 * supervisor accepts signals one by one, with a time limit. It never waits for
 * anything else.
 *
 * Even process 1 receives signals that are blocked. With SIGTTOU blocked,
 * printing does not stop us. The command gets the mask that we were started
 * with.
 *
 * The command stays in our process group. So the terminal's Ctrl-C, Ctrl-Z and
 * window sizes reach it directly, pipelines keep their terminal, and a signal
 * to the group (of a shell, or timeout(1)) reaches the command, too.
 */
struct run_signals {
	sigset_t all;               /* the signals that are blocked */
	sigset_t old;               /* the mask that we were started with */
	struct sigaction old_child; /* the action for SIGCHLD: a process that
	                               ignores it never learns how a child
	                               ended */
};

void run_signals_block(struct run_signals *signals);

/* Restore the mask. */
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

/*
 * Did the terminal or the kernel send the signal, and not kill()?
 */
bool run_signals_is_kernel(const siginfo_t *info);

/* Stop as the command did, until SIGCONT. */
void run_signals_stop(int number);

/* Die of this signal, without a core dump. Returns if that is impossible. */
void run_signals_die(int number);

#endif
