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
 * Find out of which roots the file system keeps access times, and set
 * `has_times` for each that exists. Returns whether all of these do. Tried on an
 * unnamed temporary file; if none can be made, the mount options decide.
 */
bool tkb_use_find_times(const struct tkb_roots *roots, bool *has_times);

/*
 * Find out when `found` was used; `has_times` says whether its root keeps
 * access times. What `out` points to belongs to `found`. Returns 0, TKB_MISS (it
 * has been removed) or TKB_ERR_IO.
 */
TKB_NODISCARD int tkb_use_look(const struct tkb_scanned_entry *found,
                               bool has_times, struct tkb_use *out,
                               struct tkb_error *err);

#endif
