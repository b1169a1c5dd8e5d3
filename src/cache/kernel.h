/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_KERNEL_H
#define TKB_CACHE_KERNEL_H

/* Check a kernel's files against what a bundle says of it. */

#include "base/arena.h"
#include "base/base.h"

/*
 * Does `group` list exactly the entry's other files, in `place` (escaped)?
 * `group` is the group file of `entry` with its paths restored to there. A
 * failure has the reason "group".
 */
TKB_NODISCARD int tkb_kernel_check_group(const struct tkb_entry *entry,
                                         struct tkb_bytes group,
                                         struct tkb_bytes place,
                                         struct tkb_arena *arena,
                                         struct tkb_error *err);

/*
 * Check all of kernel `entry`, whose files are `files`, as a bundle holds
 * them: group file, metadata, hash, target, binary.
 */
TKB_NODISCARD int tkb_kernel_check(const struct tkb_entry *entry,
                                   const struct tkb_bytes *files,
                                   struct tkb_arena *arena,
                                   struct tkb_error *err);

/* The index of the group file, or the file count if there is none. */
size_t tkb_kernel_group_index(const struct tkb_entry *entry);

#endif
