/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_LOOP_H
#define TKBUNDLE_RUN_LOOP_H

#include "run/run.h"

/* Nanoseconds since 1970, as file systems have them. */
int64_t run_loop_time(void);

/*
 * Wait for one signal, at most until `until_ms`, and do what it asks for: note
 * children that have ended, tell those to end whose time is over, and forward
 * the rest to the command. Without a command, what would end us is kept in
 * run->stop_signal.
 */
void run_loop_turn(struct run *run, uint64_t until_ms);

/*
 * Do what the signals ask for that have come. What came while the command was
 * being started, from the terminal, has not reached it: then it is forwarded.
 */
void run_loop_drain(struct run *run);

/*
 * Wait until `role` has ended, at most until `until_ms`, or a stop signal.
 *
 * @return whether it has ended
 */
bool run_loop_wait(struct run *run, enum run_role role, uint64_t until_ms);

#endif
