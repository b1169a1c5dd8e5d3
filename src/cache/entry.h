/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_ENTRY_H
#define TKB_CACHE_ENTRY_H

/* Comparisons of entries: order, files, targets. */

#include <tkbundle/entry.h>

#include "base/base.h"

/* The order of entries: kind, name, key, platform, first device. */
int tkb_entry_compare(const struct tkb_entry *a, const struct tkb_entry *b);

/* Compare two files of an entry, for qsort() and bsearch(). */
int tkb_compare_files(const void *a, const void *b);

/* The index of file `name`; the number of files if there is none. */
size_t tkb_entry_find_file(const struct tkb_entry *entry, const char *name);

/* Do both have the same files, according to their digests? */
bool tkb_entry_has_same_files(const struct tkb_entry *a,
                              const struct tkb_entry *b);

bool tkb_target_is_equal(const struct tkb_target *a,
                         const struct tkb_target *b);

/*
 * Does `target` match one of `count` wanted ones? Empty members of a wanted one
 * match anything, and so does a count of 0.
 */
bool tkb_target_is_wanted(const struct tkb_target *target,
                          const struct tkb_target *wanted, size_t count);

/* The most bytes that a file of the entry may have, and all its files. */
uint64_t tkb_entry_file_limit(const struct tkb_entry *entry);
uint64_t tkb_entry_limit(const struct tkb_entry *entry);

/* The number of bytes of an entry in a frame, without tar headers. */
uint64_t tkb_entry_tar_size(const struct tkb_entry *entry);

#endif
