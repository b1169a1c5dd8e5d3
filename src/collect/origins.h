/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_ORIGINS_H
#define TKB_COLLECT_ORIGINS_H

/*
 * Where the entries of a cache come from that were pulled under a policy: a file
 * beside them, "origins", with a line for each record,
 *
 *     <digest>,<digest>,... <key> <key> ...
 *
 * the digests of what may be revoked, the record, its bundle and the keys that have
 * signed it among them, and the keys of its entries. A line of "-" and keys says
 * that these entries were removed: of a key, only the lines behind its last such
 * line count.
 */

#include <tkbundle/maintain.h>

#include "base/base.h"

/* One origin. */
struct tkb_origin {
	const struct tkb_digest *digests;
	size_t digest_count; /* 0: the entries are removed */
	const char *const *keys;
	size_t key_count;
};

/*
 * Append each of them, unless the file says so, and of nothing later that it was
 * removed. The file is read and written once.
 */
TKB_NODISCARD int tkb_origins_note(const char *cache_root,
                                   const struct tkb_origin *origins,
                                   size_t count, struct tkb_error *err);

#endif
