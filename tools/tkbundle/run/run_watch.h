/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_WATCH_H
#define TKBUNDLE_RUN_WATCH_H

#include "run/run.h"

/*
 * Tasks that watch the root, each given a struct run. The known entries are
 * listed in run->shared: those from before the command, and those that a watch
 * has reported.
 */

/*
 * Learn which entries exist before the command starts: early, while a pull may
 * still emit others, and again once it has ended.
 */
void run_watch_learn_early(void *self);
void run_watch_learn(void *self);

/*
 * Wait until the server is ready, if the user says how to ask, and until there
 * are new entries. Later calls wait for new entries, and then nearly a quiet
 * time for more: pushing each entry alone would make many small records. Tree
 * files that changed within a quiet time do not count yet: a push would leave
 * them out.
 */
void run_watch_wait(void *self);

/*
 * Hold the trees until this process ends, so that a gc keeps what the command
 * may read. Given a struct run.
 */
void run_hold(void *self);

#endif
