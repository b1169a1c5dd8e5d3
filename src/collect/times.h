/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_TIMES_H
#define TKB_COLLECT_TIMES_H

#include <tkbundle/times.h>

#include "base/arena.h"
#include "base/base.h"

/* How long the entry with a key, also that of a unit, took to compile. */
struct tkb_key_time {
	const char *key;
	uint32_t ms;
	size_t order; /* of two with one key, the first is used */
};

/* Zeroed is empty. After tkb_times_sort() by key, each once. */
struct tkb_times {
	struct tkb_arena arena;     /* owns the keys */
	struct tkb_key_time *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_times_release(struct tkb_times *times);

/* For TKB_AUTO. */
void tkb_times_close_at(struct tkb_times **times);

TKB_NODISCARD int tkb_times_add(struct tkb_times *times, const char *key,
                                uint32_t ms, struct tkb_error *err);

void tkb_times_sort(struct tkb_times *times);

/* 0 where `times`, which may be NULL, lack it. They must have been sorted. */
uint32_t tkb_times_of_key(const struct tkb_times *times, const char *key);

/* Append those of `news` that the cache's file does not have. */
TKB_NODISCARD int tkb_times_store(const char *cache_root,
                                  const struct tkb_times *news,
                                  struct tkb_error *err);

#endif
