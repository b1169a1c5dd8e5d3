/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_MEMORY_STORE_H
#define TKB_REMOTE_MEMORY_STORE_H

/* Things in memory: a list, by ref and digest. A blob's ref is "". */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

struct tkb_memory_item {
	struct tkb_memory_item *next;
	struct tkb_digest digest;
	struct tkb_bytes bytes; /* in `ref`, behind its end */
	char ref[];
};

struct tkb_memory_store {
	struct tkb_memory_item *first; /* owned, and all behind it */
};

void tkb_memory_store_release(struct tkb_memory_store *things);

/* The thing, or NULL. */
struct tkb_memory_item *tkb_memory_store_find(struct tkb_memory_store *things,
                                              const char *ref,
                                              const struct tkb_digest *digest);

/* The first of all, or NULL. */
struct tkb_memory_item *tkb_memory_store_first(
	const struct tkb_memory_store *things);

/* What is there already is as good. */
TKB_NODISCARD int tkb_memory_store_add(struct tkb_memory_store *things,
                                       const char *ref,
                                       const struct tkb_digest *digest,
                                       const struct tkb_blob *blob,
                                       struct tkb_error *err);

/* Returns 0 or TKB_MISS. */
int tkb_memory_store_remove(struct tkb_memory_store *things, const char *ref,
                            const struct tkb_digest *digest);

#endif
