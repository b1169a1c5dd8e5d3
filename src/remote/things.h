/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_THINGS_H
#define TKB_REMOTE_THINGS_H

/* Things in memory: a list, by ref and digest. A blob's ref is "". */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

struct tkb_thing {
	struct tkb_thing *next;
	struct tkb_digest digest;
	struct tkb_bytes bytes; /* in `ref`, behind its end */
	char ref[];
};

struct tkb_things {
	struct tkb_thing *first; /* owned, and all behind it */
};

void tkb_things_release(struct tkb_things *things);

/* The thing, or NULL. */
struct tkb_thing *tkb_things_find(struct tkb_things *things, const char *ref,
                                  const struct tkb_digest *digest);

/* The first of all, or NULL. */
struct tkb_thing *tkb_things_first(const struct tkb_things *things);

/* What is there already is as good. */
TKB_NODISCARD int tkb_things_add(struct tkb_things *things, const char *ref,
                                 const struct tkb_digest *digest,
                                 const struct tkb_blob *blob,
                                 struct tkb_error *err);

/* Returns 0 or TKB_MISS. */
int tkb_things_remove(struct tkb_things *things, const char *ref,
                      const struct tkb_digest *digest);

#endif
