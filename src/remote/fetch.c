/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/digest.h"
#include "cache/watch.h"
#include "remote/net/limits.h"
#include "remote/remote.h"

/*
 * A blob is read from the first tier that has it, and stored in the writable
 * tiers before that one. If one of these is local to the node, one process of
 * the node fetches the blob, and the others wait for it.
 */

enum {
	NAP_MS = 20 /* pause between checks for the blob */
};

/* The progress of a fetch; a NULL pointer means that nobody watches. */
struct gauge {
	const struct tkb_watch *watch;
	uint64_t size; /* as reported by a tier; 0: unknown */
	uint64_t told;
};

/* A fetch from the next tier begins at 0 again. */
static void report_fetched(struct gauge *gauge, uint64_t done)
{
	if (gauge == NULL || done <= gauge->told)
		return;
	gauge->told = done;
	tkb_watch_tell(gauge->watch, done,
	               done < gauge->size ? gauge->size : done);
}

/* A blob that is being fetched from a tier. */
struct transfer {
	const struct tkb_digest *digest;
	struct tkb_blob_buffer *buffer;
	struct gauge *gauge;                /* or NULL */
	const struct tkb_op_limits *limits; /* of the current try */
	int sink_rc;                        /* what our own sink returned */
	struct tkb_error sink_error;
};

static int add_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct transfer *transfer = self;

	transfer->sink_rc =
		tkb_op_limits_check(transfer->limits, &transfer->sink_error);
	if (transfer->sink_rc == 0)
		transfer->sink_rc = tkb_blob_buffer_add(transfer->buffer, bytes,
		                                        &transfer->sink_error);
	if (transfer->sink_rc == 0)
		report_fetched(transfer->gauge, transfer->buffer->size);
	else if (err != NULL)
		*err = transfer->sink_error;
	return transfer->sink_rc;
}

/* Get the blob, from the byte where the last try ended. */
static int get_from_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	struct transfer *transfer = self;
	const struct tkb_sink sink = { add_bytes, transfer };
	const uint64_t had = transfer->buffer->size;
	int rc;

	transfer->limits = limits;
	transfer->sink_rc = 0;
	rc = tier->backend->get(tier->self, limits, transfer->digest, had,
	                        &sink, err);
	if (transfer->sink_rc < 0)
		return tkb_fail_as(err, transfer->sink_rc,
		                   &transfer->sink_error);
	if (rc == TKB_MISS && had != 0)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "the blob vanished while it was read");
	return rc;
}

static int check_digest(struct tkb_blob_buffer *buffer,
                        const struct tkb_digest *wanted,
                        const struct tkb_tier *tier, struct tkb_error *err)
{
	const struct tkb_blob blob = { buffer->size,
		                       tkb_blob_buffer_source(buffer) };
	char hex[TKB_DIGEST_HEX_SIZE];
	struct tkb_digest digest;
	int rc;

	rc = tkb_blob_digest(&blob, &digest, err);
	if (rc < 0)
		return rc;
	if (tkb_digest_equal(&digest, wanted))
		return 0;
	tkb_digest_to_hex(wanted, hex);
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "remote '%s': blob %s has another digest",
	                tier->url->name, hex);
}

static int fetch_from(struct tkb_tier *tier, const struct tkb_digest *digest,
                      struct gauge *gauge, struct tkb_blob_buffer *out,
                      struct tkb_error *err)
{
	struct transfer transfer = { .digest = digest,
		                     .buffer = out,
		                     .gauge = gauge };
	const struct tkb_tier_work work = { get_from_tier, &transfer };
	int rc;

	tkb_blob_buffer_reset(out);
	rc = tkb_tier_do(tier, &work, err);
	return rc == 0 ? check_digest(out, digest, tier, err) : rc;
}

int tkb_tier_fetch(struct tkb_tier *tier, const struct tkb_digest *digest,
                   struct tkb_blob_buffer *out, struct tkb_error *err)
{
	return fetch_from(tier, digest, NULL, out, err);
}

/*
 * Store the blob in the first `count` tiers. Ignore failures: the blob has been
 * fetched.
 */
static void fill_nearer_tiers(struct tkb_remote *remote, size_t count,
                              const struct tkb_digest *digest,
                              struct tkb_blob_buffer *buffer)
{
	const struct tkb_blob blob = { buffer->size,
		                       tkb_blob_buffer_source(buffer) };

	for (size_t i = 0; i < count; i++) {
		if (remote->tiers[i].is_read_only ||
		    tkb_tier_put(&remote->tiers[i], digest, &blob, NULL) < 0)
			continue;
	}
}

/* The claims that this fetch holds, at most one per tier. */
struct claims {
	struct {
		const struct tkb_remote_backend *backend;
		void *claim;
	} items[TKB_TIERS_LIMIT];
	size_t count;
};

static void claims_release(struct claims *claims)
{
	for (size_t i = 0; i < claims->count; i++)
		claims->items[i].backend->unclaim(claims->items[i].claim);
	claims->count = 0;
}

struct claiming {
	const struct tkb_digest *digest;
	void *claim;
};

static int claim_in_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	struct claiming *claiming = self;

	return tier->backend->claim(tier->self, limits, claiming->digest,
	                            &claiming->claim, err);
}

/*
 * The tier lacks the blob: claim it, or wait for the process that holds the
 * claim. A process that has waited in vain releases its claim: if many
 * processes failed one after another, the last would wait too long. Claims are
 * only an optimisation, so a failure counts as a miss.
 */
static int claim_or_wait(struct tkb_tier *tier, const struct tkb_digest *digest,
                         struct claims *claims, struct gauge *gauge,
                         struct tkb_blob_buffer *out, struct tkb_error *err)
{
	const struct timespec nap = { .tv_nsec = NAP_MS * (long)TKB_NS_PER_MS };
	const uint64_t end = tkb_now_ns() + tier->timeout_ms * TKB_NS_PER_MS;
	struct claiming claiming = { .digest = digest };
	const struct tkb_tier_work work = { claim_in_tier, &claiming };
	bool has_waited = false;
	int rc;

	for (;;) {
		rc = tkb_tier_do(tier, &work, err);
		if (rc == 0 && claiming.claim != NULL) {
			claims->items[claims->count].backend = tier->backend;
			claims->items[claims->count++].claim = claiming.claim;
		}
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		if (tkb_now_ns() >= end)
			return TKB_MISS;
		has_waited = true;
		(void)nanosleep(&nap, NULL);
		rc = fetch_from(tier, digest, gauge, out, err);
		if (rc != TKB_MISS)
			return rc;
	}
	rc = fetch_from(tier, digest, gauge, out, err);
	if (rc == TKB_MISS && has_waited)
		claims_release(claims);
	return rc;
}

static bool may_claim(const struct tkb_remote *remote, size_t index)
{
	const struct tkb_tier *tier = &remote->tiers[index];

	return tier->backend->claim != NULL && !tier->is_read_only &&
	       index + 1 < remote->tier_count;
}

static int fetch_claimed(struct tkb_remote *remote,
                         const struct tkb_digest *digest, struct gauge *gauge,
                         struct tkb_blob_buffer *out, struct tkb_error *err)
{
	TKB_AUTO(claims_release) struct claims claims = { 0 };
	struct tkb_verdict verdict = { 0 };

	if (out->limit > remote->max_blob_size)
		out->limit = remote->max_blob_size;
	for (size_t i = 0; i < remote->tier_count; i++) {
		struct tkb_tier *tier = &remote->tiers[i];
		struct tkb_error fault = { 0 };
		int rc;

		rc = fetch_from(tier, digest, gauge, out, &fault);
		if (rc == TKB_MISS && may_claim(remote, i))
			rc = claim_or_wait(tier, digest, &claims, gauge, out,
			                   &fault);
		if (rc == 0) {
			fill_nearer_tiers(remote, i, digest, out);
			return 0;
		}
		if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED)
			return tkb_fail_as(err, rc, &fault);
		tkb_verdict_note(&verdict, tier, rc, &fault);
	}
	return tkb_verdict_of(&verdict, false, err);
}

int tkb_remote_fetch(struct tkb_remote *remote, const struct tkb_digest *digest,
                     struct tkb_blob_buffer *out, struct tkb_error *err)
{
	return fetch_claimed(remote, digest, NULL, out, err);
}

int tkb_remote_fetch_told(struct tkb_remote *remote,
                          const struct tkb_digest *digest, uint64_t size,
                          struct tkb_blob_buffer *out, struct tkb_error *err)
{
	struct gauge gauge = { .watch = &remote->watch, .size = size };

	return fetch_claimed(remote, digest, &gauge, out, err);
}
