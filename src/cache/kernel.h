/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_KERNEL_H
#define TKB_CACHE_KERNEL_H

/* Check a kernel's files against what a bundle says about them. */

#include "base/arena.h"
#include "base/base.h"

/*
 * Check that the group file lists exactly the entry's other files, in the
 * folder `place` (escaped). `group` is the group file of `entry` with its paths
 * restored to `place`. A failure has the reason "group".
 */
TKB_NODISCARD int tkb_kernel_check_group(const struct tkb_entry *entry,
                                         struct tkb_bytes group,
                                         struct tkb_bytes place,
                                         struct tkb_arena *arena,
                                         struct tkb_error *err);

/*
 * Check the kernel `entry`, whose files are `files`, in the form that a bundle
 * holds: group file, metadata, hash, target, binary.
 */
TKB_NODISCARD int tkb_kernel_check(const struct tkb_entry *entry,
                                   const struct tkb_bytes *files,
                                   struct tkb_arena *arena,
                                   struct tkb_error *err);

/* The index of the group file, or the number of files if there is none. */
size_t tkb_kernel_group_index(const struct tkb_entry *entry);

#endif
