/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_CLAIMS_H
#define TKB_REMOTE_CLAIMS_H

/*
 * Claims of blobs, in tiers that are local to a node: one process of the node
 * fetches a blob, and the others wait for it.
 *
 * A claim has a rank. The process with rank 0 is the fetcher. If it makes no
 * progress, one of those that wait becomes its stand-in, with rank 1, and so
 * on. A holder shows its progress by beats: it also claims one of a few other
 * names, and another one after each beat.
 *
 *     TKB_AUTO(tkb_claims_release) struct tkb_claims claims = { 0 };
 *     struct tkb_patience patience = { .tier = tier, .digest = &digest };
 *
 *     rc = tkb_claims_add(&claims, tier, &digest, patience.rank, err);
 *     if (rc == TKB_MISS && tkb_patience_is_over(&patience))
 *             try the next rank
 */

#include "remote/remote.h"

/* A claim that this process holds. */
struct tkb_claim {
	struct tkb_tier *tier;
	const struct tkb_digest *digest; /* borrowed */
	unsigned rank;
	unsigned beat;    /* the number of the last beat; 0: none yet */
	uint64_t beat_ns; /* when it was, or when the blob was claimed */
	void *held;       /* owned, as is `pulse` */
	void *pulse;      /* the claim of the last beat, or NULL */
};

/* At most one per tier. */
struct tkb_claims {
	struct tkb_claim items[TKB_TIERS_LIMIT];
	size_t count;
};

/*
 * Claim the blob in the tier. `digest` must live until the release. Returns 0
 * (also if claims do not work there), TKB_MISS (another process has the claim),
 * or what tkb_tier_do() does.
 */
TKB_NODISCARD int tkb_claims_add(struct tkb_claims *claims,
                                 struct tkb_tier *tier,
                                 const struct tkb_digest *digest, unsigned rank,
                                 struct tkb_error *err);

/*
 * Bytes of the blob have arrived from the tier `from`, which is in use: show it
 * to those that wait in other tiers.
 */
void tkb_claims_beat(struct tkb_claims *claims, const struct tkb_tier *from);

void tkb_claims_release(struct tkb_claims *claims);

/* The patience with the process that has the claim of a rank. */
struct tkb_patience {
	struct tkb_tier *tier;
	const struct tkb_digest *digest; /* borrowed */
	unsigned rank;
	unsigned beat;      /* the last one that was seen; 0: none */
	uint64_t looked_ns; /* 0: not yet */
	uint64_t moved_ns;  /* when a beat was seen, or the wait began */
};

/*
 * Has that process made no progress for the tier's stall timeout? Once this was
 * so, the tier's handle no longer waits for that rank.
 */
bool tkb_patience_is_over(struct tkb_patience *patience);

/* Begin to wait for the next rank; false if there are no more. */
bool tkb_patience_next(struct tkb_patience *patience);

#endif
