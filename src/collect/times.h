/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_TIMES_H
#define TKB_COLLECT_TIMES_H

#include <tkbundle/times.h>

#include "collect/key_notes.h"

/* How long each entry took to compile, in ms. A zeroed list is empty. */
struct tkb_times {
	struct tkb_key_notes notes;
};

void tkb_times_release(struct tkb_times *times);

TKB_NODISCARD int tkb_times_add(struct tkb_times *times, const char *key,
                                uint32_t ms, struct tkb_error *err);

/* The time for `key`, or 0. `times` may be NULL, and must have been sorted. */
uint32_t tkb_times_of_key(const struct tkb_times *times, const char *key);

/* Append those of `news` that the cache's file does not have yet. */
TKB_NODISCARD int tkb_times_store(const char *cache_root,
                                  const struct tkb_times *news,
                                  struct tkb_error *err);

#endif
