/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_HOLD_H
#define TKB_EMIT_HOLD_H

/*
 * A hold shows others that a run uses a cache or a tree. It is a shared lock on
 * the file `runs` in the root's `.tkbundle` folder, and ends with the process.
 * The file's time is when the earliest of the present holders began.
 */

#include <tkbundle/maintain.h>

#include "emit/stage.h"

/*
 * Does a process hold the root of `stage`, which was begun? `*since_ns` is the
 * time of the file, since 1970.
 */
bool tkb_hold_is_there(const struct tkb_stage *stage, int64_t *since_ns);

#endif
