/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_MAINTAIN_USES_H
#define TKB_EMIT_MAINTAIN_USES_H

/*
 * When an entry was last read and written, according to the times of one of its
 * files; for a unit, according to those of all its files.
 */

#include <tkbundle/maintain.h>

#include "cache/scanned_entry.h"

/*
 * Find out which roots are on a file system that keeps access times, and set
 * `has_times` for each existing root. Returns true if all of them are. This is
 * tried with an unnamed temporary file; if none can be made, the mount options
 * decide.
 */
bool tkb_use_find_times(const struct tkb_roots *roots, bool *has_times);

/*
 * Find out when `found` was used. `has_times` says whether its root keeps
 * access times. `out` points to data of `found`. Returns 0, TKB_MISS (the entry
 * was removed) or TKB_ERR_IO.
 */
TKB_NODISCARD int tkb_use_look(const struct tkb_scanned_entry *found,
                               bool has_times, struct tkb_use *out,
                               struct tkb_error *err);

#endif
