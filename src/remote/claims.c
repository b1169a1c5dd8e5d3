/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/claims.h"

#include "base/clock.h"

enum {
	RANKS = 16,
	BEATS = 8,     /* names for them, used in turn */
	BEAT_MS = 250, /* time between two beats */
	LOOK_MS = 1000 /* between two looks; all names take twice as long */
};

struct claiming {
	struct tkb_digest name; /* what is claimed */
	void *claim;
};

static int claim_in_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	struct claiming *claiming = self;

	return tier->backend->claim(tier->self, limits, &claiming->name,
	                            &claiming->claim, err);
}

/*
 * Claim the blob with a rank, or, unless `beat` is 0, the name of a beat of
 * that claim. Digests are random: no other blob has these names.
 */
static int claim_name(struct tkb_tier *tier, const struct tkb_digest *digest,
                      unsigned rank, unsigned beat, void **out,
                      struct tkb_error *err)
{
	struct claiming claiming = { .name = *digest };
	const struct tkb_tier_work work = { claim_in_tier, &claiming };
	int rc;

	claiming.name.bytes[0] ^= (unsigned char)rank;
	claiming.name.bytes[1] ^= (unsigned char)beat;
	rc = tkb_tier_do(tier, &work, err);
	if (rc == 0)
		*out = claiming.claim;
	return rc;
}

int tkb_claims_add(struct tkb_claims *claims, struct tkb_tier *tier,
                   const struct tkb_digest *digest, unsigned rank,
                   struct tkb_error *err)
{
	struct tkb_claim claim = { .tier = tier,
		                   .digest = digest,
		                   .rank = rank,
		                   .beat_ns = tkb_now_ns() };
	int rc;

	rc = claim_name(tier, digest, rank, 0, &claim.held, err);
	if (rc == 0 && claim.held != NULL)
		claims->items[claims->count++] = claim;
	return rc;
}

static void unclaim(const struct tkb_tier *tier, void *claim)
{
	if (claim != NULL)
		tier->backend->unclaim(claim);
}

/*
 * A name that cannot be claimed is being looked at: the beat is left out, which
 * does no harm.
 */
static void beat_once(struct tkb_claim *claim)
{
	void *pulse = NULL;

	claim->beat = claim->beat % BEATS + 1;
	if (claim_name(claim->tier, claim->digest, claim->rank, claim->beat,
	               &pulse, NULL) != 0)
		return;
	unclaim(claim->tier, claim->pulse);
	claim->pulse = pulse;
}

void tkb_claims_beat(struct tkb_claims *claims, const struct tkb_tier *from)
{
	for (size_t i = 0; i < claims->count; i++) {
		struct tkb_claim *claim = &claims->items[i];
		const uint64_t now = tkb_now_ns();

		if (claim->tier == from ||
		    now < claim->beat_ns + BEAT_MS * TKB_NS_PER_MS)
			continue;
		claim->beat_ns = now;
		beat_once(claim);
	}
}

void tkb_claims_release(struct tkb_claims *claims)
{
	for (size_t i = 0; i < claims->count; i++) {
		unclaim(claims->items[i].tier, claims->items[i].pulse);
		unclaim(claims->items[i].tier, claims->items[i].held);
	}
	claims->count = 0;
}

/* The number of the beat whose name is claimed; 0 if none is. */
static unsigned find_beat(const struct tkb_patience *patience)
{
	for (unsigned beat = 1; beat <= BEATS; beat++) {
		void *claim = NULL;
		const int rc = claim_name(patience->tier, patience->digest,
		                          patience->rank, beat, &claim, NULL);

		unclaim(patience->tier, claim);
		if (rc == TKB_MISS)
			return beat;
	}
	return 0;
}

static void look(struct tkb_patience *patience, uint64_t now)
{
	const unsigned beat = find_beat(patience);

	if (beat != patience->beat || patience->looked_ns == 0)
		patience->moved_ns = now;
	patience->beat = beat;
	patience->looked_ns = now;
}

bool tkb_patience_is_over(struct tkb_patience *patience)
{
	struct tkb_tier *tier = patience->tier;
	const uint64_t now = tkb_now_ns();
	const uint64_t stall_ns = tier->stall_ms * TKB_NS_PER_MS;
	bool is_over;

	if (patience->rank < tier->vain_ranks)
		return true;
	is_over = patience->looked_ns != 0 &&
	          now >= patience->moved_ns + stall_ns;
	if (is_over || now >= patience->looked_ns + LOOK_MS * TKB_NS_PER_MS) {
		look(patience, now);
		is_over = now >= patience->moved_ns + stall_ns;
	}
	if (is_over)
		tier->vain_ranks = patience->rank + 1;
	return is_over;
}

bool tkb_patience_next(struct tkb_patience *patience)
{
	*patience = (struct tkb_patience){ .tier = patience->tier,
		                           .digest = patience->digest,
		                           .rank = patience->rank + 1 };
	return patience->rank < RANKS;
}
