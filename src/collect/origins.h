/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_ORIGINS_H
#define TKB_COLLECT_ORIGINS_H

/*
 * Where entries that were pulled under a policy come from. The file "origins"
 * in the cache has a line for each record,
 *
 *     <digest>,<digest>,... <key> <key> ...
 *
 * with the digests of everything that may be revoked (the record, its bundle,
 * the keys that signed it), and then the keys of its entries. A line with "-"
 * and keys says that these entries were removed: it cancels all earlier lines
 * for these keys.
 */

#include <tkbundle/maintain.h>

#include "base/base.h"

/* One line of the file. */
struct tkb_origin {
	const struct tkb_digest *digests;
	size_t digest_count; /* 0: the entries were removed */
	const char *const *keys;
	size_t key_count;
};

/*
 * Append a line for each origin, unless the file has that line already, with no
 * later line about removed entries. The file is read once and written once.
 */
TKB_NODISCARD int tkb_origins_note(const char *cache_root,
                                   const struct tkb_origin *origins,
                                   size_t count, struct tkb_error *err);

#endif
