/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_ARENA_H
#define TKB_BASE_ARENA_H

/*
 * Memory for many small objects with the same lifetime: what a manifest or a
 * cache holds. Single objects are not freed; tkb_arena_release() frees all. A
 * zeroed arena is empty.
 */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_arena {
	struct tkb_arena_block *blocks; /* owned */
	size_t used;                    /* in the first block */
};

void tkb_arena_release(struct tkb_arena *arena);

/* `count` zeroed items of `size` bytes, aligned for any type; or NULL. */
void *tkb_arena_alloc(struct tkb_arena *arena, size_t count, size_t size);

/* A copy of `bytes` and a terminating zero; or NULL. */
char *tkb_arena_string(struct tkb_arena *arena, struct tkb_bytes bytes);

/* As tkb_arena_string(), but fails with TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_arena_copy(struct tkb_arena *arena,
                                 struct tkb_bytes bytes, const char **out,
                                 struct tkb_error *err);

/* Copy the contents of `buf`. If the buffer failed, return its failure. */
TKB_NODISCARD int tkb_arena_copy_buf(struct tkb_arena *arena,
                                     const struct tkb_buf *buf,
                                     const char **out, struct tkb_error *err);

#endif
