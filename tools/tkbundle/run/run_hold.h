/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_HOLD_H
#define TKBUNDLE_RUN_HOLD_H

/*
 * Hold the trees of the plan that are there, until killed, so that a gc leaves
 * what the command may be reading. A child's task: folders may hang.
 */
void run_hold(void *self);

#endif
