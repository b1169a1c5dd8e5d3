/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_REFRESH_H
#define TKBUNDLE_RUN_REFRESH_H

#include "run/run.h"

/*
 * Keep the file of --metrics up to date while the command runs, which may take
 * weeks. Write it when the command starts, when a pull or push ends, and from
 * time to time. Print a line when a late pull has ended, when pushes begin to
 * fail, and when they succeed again.
 */
void run_refresh_begin(struct run *run);

/* Note that a push has ended. `had_reason`: the one before it had failed. */
void run_refresh_pushed(struct run *run, bool had_reason);

/* Start what is due. @return when to call this again at the latest */
uint64_t run_refresh_turn(struct run *run);

#endif
