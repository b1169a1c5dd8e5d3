/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_LAUNCHER_PAYLOAD_H
#define TKB_FORMAT_LAUNCHER_PAYLOAD_H

/*
 * Saved launchers, which a recorder notes and a manifest lists.
 *
 * In a bundle their payloads follow the entries. The code that cuts, packs and
 * decodes frames treats each payload as an entry of a special kind with one
 * file; its key, its name and its file's name are the payload's digest in
 * hexadecimal. Entries and payloads together are called items and numbered from
 * 0: first the entries, then the distinct payloads, sorted by digest.
 */

#include <tkbundle/launcher.h>

#include "base/arena.h"
#include "base/base.h"

enum {
	TKB_LAUNCHERS_LIMIT = 100000,
	TKB_NEEDS_LIMIT = 1024,
	TKB_CACHE_KEY_LIMIT = 1024
};

/* The kind of an item that is a payload; used only inside the library. */
#define TKB_KIND_PAYLOAD ((enum tkb_kind)(TKB_KIND_UNIT + 1))

/*
 * Is `text` valid as a cache key or the name of a launcher: 1 to `limit` bytes
 * of UTF-8 without control characters?
 */
bool tkb_launcher_text_is_valid(const char *text, size_t limit);

/*
 * Make items of the distinct payloads of `launchers`, sorted by digest, in
 * `arena`. Returns 0, TKB_ERR_CORRUPT (one digest has two sizes) or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_payload_items(const struct tkb_saved_launcher *launchers,
                                    size_t count, struct tkb_arena *arena,
                                    struct tkb_entry **out, size_t *count_out,
                                    struct tkb_error *err);

/* The index of the payload with `digest` in `items`; `count` if none. */
size_t tkb_payload_find(const struct tkb_entry *items, size_t count,
                        const struct tkb_digest *digest);

#endif
