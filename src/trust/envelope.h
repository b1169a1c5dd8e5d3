/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_ENVELOPE_H
#define TKB_TRUST_ENVELOPE_H

/*
 * A statement with signatures, as DSSE has it. In a remote, an envelope is
 * canonical JSON:
 *
 *     {"payload":"<base64>","payloadType":"application/vnd.in-toto+json",
 *      "signatures":[{"keyid":"<64 digits>","sig":"<base64>"},...]}
 *
 * `keyid` is the id of a key. Keys sign DSSE's PAE of type and payload.
 */

#include "text/schema.h"
#include "trust/key.h"
#include "trust/statement.h"

enum {
	TKB_ENVELOPE_LIMIT = 64 * 1024, /* bytes */
	TKB_SIGNATURES_LIMIT = 16
};

struct tkb_envelope_signature {
	struct tkb_digest key;
	struct tkb_bytes bytes; /* lies in the arena */
};

struct tkb_envelope {
	struct tkb_digest digest; /* its name in the remote; the reader sets
	                             it */
	uint64_t age_s;           /* the reader sets it, too */
	bool is_known; /* it could be read: the members below are set */
	struct tkb_bytes payload; /* lies in the arena */
	struct tkb_statement statement;
	struct tkb_envelope_signature *signatures;
	size_t signature_count;
};

#define TKB_PAYLOAD_TYPE "application/vnd.in-toto+json"

/* A part of a schema: decode base64 into a struct tkb_bytes in the arena. */
int tkb_envelope_read_bytes(struct tkb_schema_reader *reader, void *out,
                            struct tkb_error *err);

/* Sign a payload with all `keys`, and append the envelope. */
TKB_NODISCARD int tkb_envelope_seal(struct tkb_bytes payload,
                                    const struct tkb_key *const *keys,
                                    size_t key_count, struct tkb_buf *out,
                                    struct tkb_error *err);

/* Sign the statement with all `keys`, and append the envelope. */
TKB_NODISCARD int tkb_envelope_make(const struct tkb_statement *statement,
                                    const struct tkb_key *const *keys,
                                    size_t key_count, struct tkb_buf *out,
                                    struct tkb_error *err);

/*
 * Read one into `arena`, except its statement: the payload may be of any kind.
 * TKB_ERR_CORRUPT as below.
 */
TKB_NODISCARD int tkb_envelope_open(struct tkb_bytes text,
                                    struct tkb_arena *arena,
                                    struct tkb_envelope *out,
                                    struct tkb_error *err);

/*
 * Read one into `arena`, with its statement. TKB_ERR_CORRUPT if it is not an
 * envelope, or not canonical. No signature is checked.
 */
TKB_NODISCARD int tkb_envelope_read(struct tkb_bytes text,
                                    struct tkb_arena *arena,
                                    struct tkb_envelope *out,
                                    struct tkb_error *err);

/* Does the envelope have a valid signature by `key`? */
TKB_NODISCARD int tkb_envelope_check(const struct tkb_envelope *envelope,
                                     const struct tkb_key *key, bool *out,
                                     struct tkb_error *err);

/* Is its statement about this record? Signatures are not checked. */
bool tkb_envelope_is_of(const struct tkb_envelope *envelope,
                        const struct tkb_subject *subject);

#endif
