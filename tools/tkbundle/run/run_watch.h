/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_WATCH_H
#define TKBUNDLE_RUN_WATCH_H

#include "run/run.h"

/*
 * Tasks that look at the root, each given a struct run. Which entries are
 * known stands in run->shared: those before the command, and those that a
 * watch has told of.
 */

/* Learn what is there before the command starts. */
void run_watch_learn(void *self);

/*
 * Look every two seconds, until there are new entries, and then until no more
 * come, but no longer than ten seconds: a push for each entry would make a ref
 * of many small records.
 */
void run_watch_wait(void *self);

#endif
