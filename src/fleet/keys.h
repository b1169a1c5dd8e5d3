/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_KEYS_H
#define TKB_FLEET_KEYS_H

/*
 * The keys that a pull requests. Unlike those of an emit, they may be in several
 * bundles, and a prefix must be unique in the whole ref.
 */

#include <tkbundle/emit.h>

#include "records/records.h"

struct tkb_keys {
	const char **items; /* owned; the keys belong to the records */
	size_t count;
};

void tkb_keys_release(struct tkb_keys *keys);

/*
 * Complete the keys, or prefixes of keys, in `options`. Returns 0, TKB_MISS (no
 * entry of the ref has one of them, and `watch` is told which), TKB_ERR_INVALID
 * (a prefix is not unique) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_keys_find(const struct tkb_record_list *records,
                                const struct tkb_emit_options *options,
                                const struct tkb_watch *watch,
                                struct tkb_keys *out, struct tkb_error *err);

/* Find those of the keys that are in `record`. */
TKB_NODISCARD int tkb_keys_in(const struct tkb_keys *keys,
                              const struct tkb_record *record,
                              struct tkb_keys *out, struct tkb_error *err);

#endif
