/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_NEVER_H
#define TKBUNDLE_RUN_NEVER_H

#include "run.h"

/*
 * Where we become the command, which knows nothing of a pull that goes on, that
 * must not be its child: somebody looks after the pull who is no child of ours
 * once his parent has gone, which waits for him meanwhile.
 *
 * As process 1, or where orphans are ours, it would come back to the command:
 * there the pull ends with the wait.
 */

/* Start it as the task. */
bool run_never_pull(struct run *run);

/*
 * It has ended, or goes on without us, or is killed where it cannot.
 *
 * @param may_go_on  whether it may
 */
void run_never_part(struct run *run, bool may_go_on);

#endif
