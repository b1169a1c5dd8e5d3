/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_MAKERS_H
#define TKB_COLLECT_MAKERS_H

#include <tkbundle/makers.h>

#include "collect/key_notes.h"

/* What made each entry, as a text. A zeroed list is empty. */
struct tkb_makers {
	struct tkb_key_notes notes;
};

void tkb_makers_release(struct tkb_makers *makers);

/* Can this text be noted? */
bool tkb_maker_is_valid(const char *maker);

TKB_NODISCARD int tkb_makers_add(struct tkb_makers *makers, const char *key,
                                 const char *maker, struct tkb_error *err);

/*
 * What made the entry with `key`, or NULL. `makers` may be NULL, and must have
 * been sorted.
 */
const char *tkb_makers_of_key(const struct tkb_makers *makers, const char *key);

/* Append those of `news` that the cache's file does not have yet. */
TKB_NODISCARD int tkb_makers_store(const char *cache_root,
                                   const struct tkb_makers *news,
                                   struct tkb_error *err);

#endif
