/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_ENVELOPES_H
#define TKB_TRUST_ENVELOPES_H

/*
 * The envelopes of a ref's records. In every kind of remote, they lie as records of
 * a name that no ref may have: "@signed/" and the ref's.
 */

#include "remote/remote.h"
#include "trust/envelope.h"

/* Zeroed it is empty. */
struct tkb_envelopes {
	struct tkb_arena arena;
	struct tkb_envelope *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_envelopes_release(struct tkb_envelopes *envelopes);

/*
 * Read those of `ref`, the newest first. What is no envelope, or of a newer tkbundle, is among them
 * and is not known; what cannot be read is passed over.
 */
TKB_NODISCARD int tkb_envelopes_read(struct tkb_remote *remote, const char *ref,
                                     struct tkb_envelopes *out,
                                     struct tkb_error *err);

/* Add one; TKB_ERR_TOO_LARGE where the ref has too long a name. */
TKB_NODISCARD int tkb_envelopes_add(struct tkb_remote *remote, const char *ref,
                                    struct tkb_bytes envelope,
                                    struct tkb_error *err);

/* Is there one of this record, whoever has signed it? */
bool tkb_envelopes_have(const struct tkb_envelopes *envelopes,
                        const struct tkb_subject *subject);

/*
 * Drop those of `ref` that are of none of its `living` records and at least
 * `grace_s` old: a younger one may belong to a push that has not added its record
 * yet. With `is_dry_run` only count them.
 */
TKB_NODISCARD int tkb_envelopes_prune(struct tkb_remote *remote,
                                      const char *ref,
                                      const struct tkb_subject *living,
                                      size_t living_count, uint64_t grace_s,
                                      bool is_dry_run, uint64_t *count,
                                      struct tkb_error *err);

#endif
