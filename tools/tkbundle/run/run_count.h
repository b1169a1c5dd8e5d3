/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_COUNT_H
#define TKBUNDLE_RUN_COUNT_H

#include "run/run.h"

/*
 * Count what was used and compiled, and see whether there are entries that no
 * watch has told of. What was emitted stands in the document of the pull. `self`
 * is a struct run.
 */
void run_count(void *self);

#endif
