/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_REVOCATIONS_H
#define TKB_TRUST_REVOCATIONS_H

/*
 * Revocation lists: in-toto Statements in envelopes, kept as records of the name
 * "@revoked". Each subject is a digest: of a bundle, a record, a blob or a key.
 * Several people may keep lists in one remote; a digest that is in any of them is
 * revoked.
 */

#include "base/digest.h"
#include "remote/remote.h"
#include "trust/envelope.h"

enum {
	TKB_REVOCATION_LIMIT = 4096,            /* digests of one list */
	TKB_REVOCATION_TEXT_LIMIT = 1024 * 1024 /* bytes of its envelope */
};

struct tkb_revocation {
	uint64_t sequence;
	uint64_t expires_s;         /* since 1970 */
	struct tkb_digests digests; /* sorted, without duplicates */
};

void tkb_revocation_release(struct tkb_revocation *list);

/* Append its statement, as canonical JSON. */
TKB_NODISCARD int tkb_revocation_write(const struct tkb_revocation *list,
                                       struct tkb_buf *out,
                                       struct tkb_error *err);

/* Read a statement. TKB_ERR_CORRUPT if it is not a revocation list. */
TKB_NODISCARD int tkb_revocation_read(struct tkb_bytes text,
                                      struct tkb_revocation *out,
                                      struct tkb_error *err);

/* All lists of a remote that are signed by one of the given keys. */
struct tkb_revocations {
	struct tkb_revocation all; /* what any of them revokes; the newest
	                              sequence and the last end of any */
	bool has_current;          /* at least one has not expired */
	uint64_t newest;           /* highest sequence of those */
	size_t count;              /* how many lists */
	struct tkb_digests lists;  /* their names in the remote */
};

void tkb_revocations_release(struct tkb_revocations *revocations);

/*
 * Read the lists in `remote` that one of `keys` has signed. If `keys` is NULL,
 * read all lists, whoever signed them. If `told` is not NULL, its
 * on_revoked_list() is called for those that have not expired.
 */
TKB_NODISCARD int tkb_revocations_read(struct tkb_remote *remote,
                                       const struct tkb_key *const *keys,
                                       size_t key_count, uint64_t now_s,
                                       const struct tkb_trust *told,
                                       struct tkb_revocations *out,
                                       struct tkb_error *err);

/*
 * Read what the policy's keys with the right to revoke have revoked; nothing if no
 * key has that right.
 *
 * @return 0; TKB_ERR_UNTRUSTED (there is no list, all have expired, or a newer one
 *         was seen before), or a failure of the remote or the memory
 */
TKB_NODISCARD int tkb_revocations_check(struct tkb_remote *remote,
                                        const struct tkb_trust *trust,
                                        uint64_t now_s,
                                        struct tkb_revocations *out,
                                        struct tkb_error *err);

#endif
