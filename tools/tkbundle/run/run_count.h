/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_COUNT_H
#define TKBUNDLE_RUN_COUNT_H

#include "run/run.h"

/*
 * Count what was used and compiled, and find entries that no watch has
 * reported. What was emitted is in the pull's document. `self` is a struct run.
 */
void run_count(void *self);

#endif
