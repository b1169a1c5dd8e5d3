/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_MARK_H
#define TKB_EMIT_MARK_H

/*
 * The file `.tkbundle/trusted-<boot id>` of a root: the ids of the bundles whose
 * entries were written or verified in the root since the machine started. A
 * power failure cannot have damaged those. A tree's root has other digests
 * instead, see make_mark() in stage.c.
 */

#include "base/base.h"
#include "base/digest.h"

/* Is bundle `id` marked in `own_fd`, the root's `.tkbundle`? */
bool tkb_mark_is_set(int own_fd, const struct tkb_digest *id);

/*
 * Mark it, and remove marks of earlier boots. A failure is harmless, and
 * ignored.
 */
void tkb_mark_set(int own_fd, const struct tkb_digest *id);

#endif
