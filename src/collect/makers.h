/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_MAKERS_H
#define TKB_COLLECT_MAKERS_H

#include <tkbundle/makers.h>

#include "collect/key_notes.h"

/* Zeroed is empty. Each has the text of what made the entry. */
struct tkb_makers {
	struct tkb_key_notes notes;
};

void tkb_makers_release(struct tkb_makers *makers);

/* Can it be noted? */
bool tkb_maker_is_valid(const char *maker);

TKB_NODISCARD int tkb_makers_add(struct tkb_makers *makers, const char *key,
                                 const char *maker, struct tkb_error *err);

/* NULL where `makers`, which may be NULL, lack it. They must have been sorted. */
const char *tkb_makers_of_key(const struct tkb_makers *makers, const char *key);

/* Append those of `news` that the cache's file does not have. */
TKB_NODISCARD int tkb_makers_store(const char *cache_root,
                                   const struct tkb_makers *news,
                                   struct tkb_error *err);

#endif
