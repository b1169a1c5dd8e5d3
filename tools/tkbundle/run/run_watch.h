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
 * Wait until the server is ready, where that is asked, and there is news; later
 * until there is news, and then nearly a quiet time: a push for each entry would make
 * a ref of many small records. Files of trees that were changed within a quiet time are
 * not told of: the push leaves them out, and the next watch waits for them.
 */
void run_watch_wait(void *self);

#endif
