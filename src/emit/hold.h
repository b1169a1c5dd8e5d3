/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_HOLD_H
#define TKB_EMIT_HOLD_H

/*
 * A hold says that a run uses a cache or a tree: a shared lock on the file `runs`
 * in its `.tkbundle`, which goes with the process. The file's time is when the
 * first of those began that overlap.
 */

#include <tkbundle/maintain.h>

#include "emit/stage.h"

/*
 * Does somebody hold the root of `stage`, which has begun? `*since_ns` is when that
 * began, since 1970.
 */
bool tkb_hold_is_there(const struct tkb_stage *stage, int64_t *since_ns);

#endif
