/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_USES_H
#define TKB_CACHE_USES_H

/* When an entry was read and written last, as its stamp file tells. */

#include <tkbundle/maintain.h>

#include "cache/scanned_entry.h"

/*
 * Does the file system below `root` keep access times? It is tried on a file
 * without a name, which leaves nothing behind; where none can be made, how it
 * is mounted decides.
 */
bool tkb_use_is_told(const struct tkb_root *root);

/*
 * Look when `found` was used, in a root that tells, or not (`is_known`). All
 * that `out` points to belongs to `found`. Returns 0, TKB_MISS (it is gone
 * meanwhile) or TKB_ERR_IO.
 */
TKB_NODISCARD int tkb_use_look(const struct tkb_scanned_entry *found,
                               bool is_known, struct tkb_use *out,
                               struct tkb_error *err);

#endif
