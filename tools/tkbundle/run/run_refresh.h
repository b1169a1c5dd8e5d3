/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_REFRESH_H
#define TKBUNDLE_RUN_REFRESH_H

#include "run/run.h"

/*
 * While the command runs, which may be for weeks: the file of --metrics is
 * written when that begins, when a pull or push has ended, and from time to
 * time. A line is printed where a late pull has ended, and where a push fails
 * that did not, or no longer fails.
 */
void run_refresh_begin(struct run *run);

/* A push has ended; it failed before, or not. */
void run_refresh_pushed(struct run *run, bool had_reason);

/* Start what is due. @return when to call again, if nothing happens before */
uint64_t run_refresh_turn(struct run *run);

#endif
