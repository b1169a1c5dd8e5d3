/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_MARK_H
#define TKB_EMIT_MARK_H

/*
 * The file `.tkbundle/trusted-<boot id>` of a root has the ids of the bundles
 * whose entries were written or verified in the root since the machine started.
 * Such entries cannot have been damaged by a power failure. In the root of a
 * tree, the file has other digests instead: see make_mark() in stage.c.
 */

#include "base/base.h"
#include "base/digest.h"

/* Is bundle `id` marked in `own_fd`, the root's `.tkbundle`? */
bool tkb_mark_is_set(int own_fd, const struct tkb_digest *id);

/*
 * Mark the bundle, and remove the marks of earlier boots. A failure does no
 * harm and is ignored.
 */
void tkb_mark_set(int own_fd, const struct tkb_digest *id);

#endif
