/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_MAINTAIN_USES_H
#define TKB_EMIT_MAINTAIN_USES_H

/*
 * When an entry was last read and written, by the times of one of its files; or a
 * unit, by those of all.
 */

#include <tkbundle/maintain.h>

#include "cache/scanned_entry.h"

/*
 * Does the file system of `root` keep access times? Tried on an unnamed
 * temporary file; where none can be made, the mount options decide.
 */
bool tkb_use_has_access_times(const struct tkb_root *root);

/*
 * Find out when `found` was used; `has_times` says whether its root keeps
 * access times. What `out` points to belongs to `found`. Returns 0, TKB_MISS (it
 * has been removed) or TKB_ERR_IO.
 */
TKB_NODISCARD int tkb_use_look(const struct tkb_scanned_entry *found,
                               bool has_times, struct tkb_use *out,
                               struct tkb_error *err);

#endif
