/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_LOOP_H
#define TKBUNDLE_RUN_LOOP_H

#include "run/run.h"

/*
 * The time, in nanoseconds since 1970, to compare with times of files.
 *
 * File systems stamp some changes with the exact time, and others with that of
 * the kernel's last tick. No file that changes later has a time before
 * run_loop_before(), and none that has changed has one after run_loop_after().
 */
int64_t run_loop_before(void);
int64_t run_loop_after(void);

/*
 * Wait for one signal, at most until `until_ms`, and act on it: note children
 * that have ended, end those whose time is over, and forward all other signals
 * to the command. If no command runs, a signal that would end us is stored in
 * run->stop_signal.
 */
void run_loop_turn(struct run *run, uint64_t until_ms);

/*
 * Act on all pending signals. Those that the terminal sent while the command
 * was being started have not reached it, and are forwarded.
 */
void run_loop_drain(struct run *run);

/*
 * Wait until `role` has ended, at most until `until_ms`, or a stop signal.
 *
 * @return whether it has ended
 */
bool run_loop_wait(struct run *run, enum run_role role, uint64_t until_ms);

#endif
