/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_HOLD_H
#define TKBUNDLE_RUN_HOLD_H

/*
 * Hold the plan's existing trees until killed, so that a gc spares what the
 * command may be reading. A child's task: folders may hang.
 */
void run_hold(void *self);

#endif
