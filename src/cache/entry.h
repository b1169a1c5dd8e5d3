/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_ENTRY_H
#define TKB_CACHE_ENTRY_H

/* Entries compared: their order, their files, their targets. */

#include <tkbundle/entry.h>

#include "base/base.h"

/* The order of entries: kind, name, key, platform, first device. */
int tkb_entry_compare(const struct tkb_entry *a, const struct tkb_entry *b);

/* For qsort() and bsearch(): the order of an entry's files. */
int tkb_compare_files(const void *a, const void *b);

/* Have both the same files, byte for byte? By their digests. */
bool tkb_entry_has_same_files(const struct tkb_entry *a,
                              const struct tkb_entry *b);

bool tkb_target_is_equal(const struct tkb_target *a,
                         const struct tkb_target *b);

/* Does `target` fit `wanted`? Members that `wanted` leaves empty fit any. */
bool tkb_target_fits(const struct tkb_target *target,
                     const struct tkb_target *wanted);

/* The bytes that an entry takes in a frame, tar headers aside. */
uint64_t tkb_entry_tar_size(const struct tkb_entry *entry);

#endif
