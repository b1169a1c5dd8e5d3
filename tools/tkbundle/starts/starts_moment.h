/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STARTS_MOMENT_H
#define TKBUNDLE_STARTS_MOMENT_H

#include "run/run.h"

/*
 * Decide when to leave a report of the start. `run` leaves one when its command
 * has ended, but a server runs for weeks, and is then killed with its pod. So a
 * child leaves one earlier: when the first push has ended, and also some time
 * after the command was started and is ready, since a warm start has nothing to
 * push. A later report replaces earlier ones of the same start (starts_read.h).
 */

enum {
	STARTS_LEAVE_MS = 2000 /* time limit for the report at the end */
};

/* Is there a remote and a ref to leave reports in? */
bool starts_moment_can(const struct run *run);

/* Note that the command was started. */
void starts_moment_begin(struct run *run);

/* Note that a push has ended. */
void starts_moment_pushed(struct run *run);

/* Leave a report if one is due. @return when to call this again at the latest */
uint64_t starts_moment_turn(struct run *run);

#endif
