/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_ENVELOPES_H
#define TKB_TRUST_ENVELOPES_H

/*
 * The envelopes of a ref's records. Every kind of remote keeps them as records
 * under a name that no ref can have: "@signed/" and the ref's name.
 */

#include "remote/remote.h"
#include "trust/envelope.h"

/* A zeroed struct is an empty list. */
struct tkb_envelopes {
	struct tkb_arena arena;
	struct tkb_envelope *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_envelopes_release(struct tkb_envelopes *envelopes);

/*
 * Read the envelopes of `ref`, newest first. One that is damaged, or from a
 * newer tkbundle, is in the list with is_known false. One that cannot be fetched
 * is left out.
 */
TKB_NODISCARD int tkb_envelopes_read(struct tkb_remote *remote, const char *ref,
                                     struct tkb_envelopes *out,
                                     struct tkb_error *err);

/* Add an envelope. TKB_ERR_TOO_LARGE if the ref's name is too long. */
TKB_NODISCARD int tkb_envelopes_add(struct tkb_remote *remote, const char *ref,
                                    struct tkb_bytes envelope,
                                    struct tkb_error *err);

/* Is there an envelope for this record, by any key? */
bool tkb_envelopes_have(const struct tkb_envelopes *envelopes,
                        const struct tkb_subject *subject);

/*
 * Drop the envelopes of `ref` that belong to none of its `living` records. Those
 * younger than `grace_s` stay: a push adds the envelope before the record. With
 * `is_dry_run` only count them.
 */
TKB_NODISCARD int tkb_envelopes_prune(struct tkb_remote *remote,
                                      const char *ref,
                                      const struct tkb_subject *living,
                                      size_t living_count, uint64_t grace_s,
                                      bool is_dry_run, uint64_t *count,
                                      struct tkb_error *err);

#endif
