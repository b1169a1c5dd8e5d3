/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_TIMES_H
#define TKB_COLLECT_TIMES_H

#include <tkbundle/times.h>

#include "collect/key_notes.h"

/* Zeroed is empty. Each has how long the entry took to compile, in ms. */
struct tkb_times {
	struct tkb_key_notes notes;
};

void tkb_times_release(struct tkb_times *times);

TKB_NODISCARD int tkb_times_add(struct tkb_times *times, const char *key,
                                uint32_t ms, struct tkb_error *err);

/* 0 where `times`, which may be NULL, lack it. They must have been sorted. */
uint32_t tkb_times_of_key(const struct tkb_times *times, const char *key);

/* Append those of `news` that the cache's file does not have. */
TKB_NODISCARD int tkb_times_store(const char *cache_root,
                                  const struct tkb_times *news,
                                  struct tkb_error *err);

#endif
