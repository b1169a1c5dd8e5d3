/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_LAUNCHER_PAYLOAD_H
#define TKB_FORMAT_LAUNCHER_PAYLOAD_H

/*
 * Saved launchers, as a recorder notes them and a manifest lists them.
 *
 * Their payloads follow the entries in a bundle. The code that cuts, packs and
 * decodes frames treats each as one more entry, of a kind of its own, whose key,
 * name and only file's name are the payload's digest in hexadecimal. Entries and
 * payloads together are items, numbered from 0: first the entries, then the
 * distinct payloads by digest.
 */

#include <tkbundle/launcher.h>

#include "base/arena.h"
#include "base/base.h"

enum {
	TKB_LAUNCHERS_LIMIT = 100000,
	TKB_NEEDS_LIMIT = 1024,
	TKB_CACHE_KEY_LIMIT = 1024
};

/* The kind of an item that is a payload; never seen outside the library. */
#define TKB_KIND_PAYLOAD ((enum tkb_kind)(TKB_KIND_UNIT + 1))

/*
 * Is `text` of 1 to `limit` bytes, UTF-8, and without control characters? So
 * are cache keys and launchers' names.
 */
bool tkb_launcher_text_is_valid(const char *text, size_t limit);

/*
 * The distinct payloads of `launchers` as items, by digest, in `arena`. Returns
 * 0, TKB_ERR_CORRUPT (one digest, two sizes) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_payload_items(const struct tkb_saved_launcher *launchers,
                                    size_t count, struct tkb_arena *arena,
                                    struct tkb_entry **out, size_t *count_out,
                                    struct tkb_error *err);

/* The index of the payload with `digest`; `count` if it is not one of `items`. */
size_t tkb_payload_find(const struct tkb_entry *items, size_t count,
                        const struct tkb_digest *digest);

#endif
