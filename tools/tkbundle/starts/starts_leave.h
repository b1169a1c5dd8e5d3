/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STARTS_LEAVE_H
#define TKBUNDLE_STARTS_LEAVE_H

/*
 * A task of `run`, given its struct run once the command has ended: leave the
 * report of the start in the remote. A failure is ignored. The task is killed
 * when its time is over.
 */
void starts_leave(void *run);

#endif
