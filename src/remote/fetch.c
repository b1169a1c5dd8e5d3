/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/digest.h"
#include "cache/watch.h"
#include "remote/claims.h"
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

/* A blob that is being fetched, from one tier after the other. */
struct fetch {
	const struct tkb_digest *digest;
	struct tkb_blob_buffer *buffer;
	bool has_size;       /* the buffer's limit is the blob's size */
	struct gauge *gauge; /* or NULL */
	struct tkb_claims claims;
};

static void fetch_release(struct fetch *fetch)
{
	tkb_claims_release(&fetch->claims);
}

/* A fetch from one tier. */
struct transfer {
	struct fetch *fetch;
	const struct tkb_tier *tier;
	const struct tkb_op_limits *limits; /* of the current try */
	int sink_rc;                        /* what our own sink returned */
	struct tkb_error sink_error;
	bool is_damaged; /* all bytes are there, with another digest */
};

static int add_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct transfer *transfer = self;
	struct fetch *fetch = transfer->fetch;

	transfer->sink_rc =
		tkb_op_limits_check(transfer->limits, &transfer->sink_error);
	if (transfer->sink_rc == 0)
		transfer->sink_rc = tkb_blob_buffer_add(fetch->buffer, bytes,
		                                        &transfer->sink_error);
	if (transfer->sink_rc == 0) {
		report_fetched(fetch->gauge, fetch->buffer->size);
		tkb_claims_beat(&fetch->claims, transfer->tier);
	} else if (err != NULL) {
		*err = transfer->sink_error;
	}
	return transfer->sink_rc;
}

/*
 * Does the tier have more bytes of the blob than this try has brought? If it
 * does not tell sizes, another try finds out: `has_grown` says that this one
 * brought some.
 */
static int ask_for_more(struct tkb_tier *tier,
                        const struct tkb_op_limits *limits,
                        const struct fetch *fetch, bool has_grown, bool *out,
                        struct tkb_error *err)
{
	uint64_t size = TKB_SIZE_UNKNOWN;
	bool is_there = false;
	int rc;

	rc = tier->backend->has(tier->self, limits, fetch->digest, 1, &is_there,
	                        &size, err);
	if (rc < 0 && rc != TKB_ERR_DENIED)
		return rc;
	if (size == TKB_SIZE_UNKNOWN)
		*out = is_there && has_grown && !limits->is_last_attempt;
	else
		*out = is_there && fetch->buffer->size < size;
	return 0;
}

/*
 * A body whose length was not announced can be cut without a failure. So if the
 * digest is wrong, find out whether the blob is cut or damaged.
 */
static int check_end(struct transfer *transfer, struct tkb_tier *tier,
                     uint64_t had, struct tkb_error *err)
{
	const struct fetch *fetch = transfer->fetch;
	const struct tkb_blob blob = { fetch->buffer->size,
		                       tkb_blob_buffer_source(fetch->buffer) };
	struct tkb_digest digest;
	bool is_cut = false;
	int rc;

	rc = tkb_blob_digest(&blob, &digest, err);
	if (rc < 0)
		return rc;
	transfer->is_damaged = !tkb_digest_equal(&digest, fetch->digest);
	if (!transfer->is_damaged)
		return 0;
	rc = ask_for_more(tier, transfer->limits, fetch, blob.size > had,
	                  &is_cut, err);
	if (rc < 0 || !is_cut)
		return rc;
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "its answer ended too early");
}

/* Get the blob, from the byte where the last try ended. */
static int get_from_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	struct transfer *transfer = self;
	const struct tkb_sink sink = { add_bytes, transfer };
	const struct fetch *fetch = transfer->fetch;
	const uint64_t had = fetch->buffer->size;
	int rc;

	transfer->limits = limits;
	transfer->sink_rc = 0;
	rc = tier->backend->get(tier->self, limits, fetch->digest, had, &sink,
	                        err);
	if (transfer->sink_rc < 0)
		return tkb_fail_as(err, transfer->sink_rc,
		                   &transfer->sink_error);
	if (rc == TKB_MISS && had != 0)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "the blob vanished while it was read");
	return rc == 0 ? check_end(transfer, tier, had, err) : rc;
}

static int fetch_from(struct fetch *fetch, struct tkb_tier *tier,
                      struct tkb_error *err)
{
	struct transfer transfer = { .fetch = fetch, .tier = tier };
	const struct tkb_tier_work work = { get_from_tier, &transfer };
	int rc;

	tkb_blob_buffer_reset(fetch->buffer);
	rc = tkb_tier_do(tier, &work, err);
	if (rc == TKB_ERR_TOO_LARGE && fetch->has_size)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "remote '%s': blob %s has more than %llu bytes",
		                tier->url->name,
		                tkb_digest_hex(fetch->digest).text,
		                (unsigned long long)fetch->buffer->limit);
	if (rc != 0 || !transfer.is_damaged)
		return rc;
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "remote '%s': blob %s has another digest",
	                tier->url->name, tkb_digest_hex(fetch->digest).text);
}

int tkb_tier_fetch(struct tkb_tier *tier, const struct tkb_digest *digest,
                   struct tkb_blob_buffer *out, struct tkb_error *err)
{
	struct fetch fetch = { .digest = digest, .buffer = out };

	return fetch_from(&fetch, tier, err);
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

/*
 * The tier lacks the blob: claim it, or wait for the process that holds the
 * claim, and become its stand-in if that makes no progress. A process whose
 * wait ended with a claim, but without the blob, releases the claim: if many
 * processes failed one after another, the last would wait too long. Claims are
 * only an optimisation, so a failure counts as a miss.
 */
static int claim_or_wait(struct fetch *fetch, struct tkb_tier *tier,
                         struct tkb_error *err)
{
	const struct timespec nap = { .tv_nsec = NAP_MS * (long)TKB_NS_PER_MS };
	const uint64_t end = tkb_now_ns() + tier->timeout_ms * TKB_NS_PER_MS;
	struct tkb_patience patience = { .tier = tier,
		                         .digest = fetch->digest };
	bool has_waited = false;
	int rc;

	for (;;) {
		rc = tkb_claims_add(&fetch->claims, tier, fetch->digest,
		                    patience.rank, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		if (tkb_now_ns() >= end)
			return TKB_MISS;
		if (tkb_patience_is_over(&patience)) {
			if (!tkb_patience_next(&patience))
				return TKB_MISS;
			has_waited = false;
			continue;
		}
		has_waited = true;
		(void)nanosleep(&nap, NULL);
		rc = fetch_from(fetch, tier, err);
		if (rc != TKB_MISS)
			return rc;
	}
	rc = fetch_from(fetch, tier, err);
	if (rc == TKB_MISS && has_waited)
		tkb_claims_release(&fetch->claims);
	return rc;
}

static bool may_claim(const struct tkb_remote *remote, size_t index)
{
	const struct tkb_tier *tier = &remote->tiers[index];

	return tier->backend->claim != NULL && !tier->is_read_only &&
	       index + 1 < remote->tier_count;
}

static int fetch_blob(struct tkb_remote *remote, struct fetch *fetch,
                      struct tkb_error *err)
{
	struct tkb_blob_buffer *buffer = fetch->buffer;
	struct tkb_verdict verdict = { 0 };

	fetch->has_size = buffer->limit < remote->max_blob_size;
	if (!fetch->has_size)
		buffer->limit = remote->max_blob_size;
	for (size_t i = 0; i < remote->tier_count; i++) {
		struct tkb_tier *tier = &remote->tiers[i];
		struct tkb_error fault = { 0 };
		int rc;

		rc = fetch_from(fetch, tier, &fault);
		if (rc == TKB_MISS && may_claim(remote, i))
			rc = claim_or_wait(fetch, tier, &fault);
		if (rc == 0) {
			fill_nearer_tiers(remote, i, fetch->digest, buffer);
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
	TKB_AUTO(fetch_release)
	struct fetch fetch = { .digest = digest, .buffer = out };

	return fetch_blob(remote, &fetch, err);
}

int tkb_remote_fetch_told(struct tkb_remote *remote,
                          const struct tkb_digest *digest, uint64_t size,
                          struct tkb_blob_buffer *out, struct tkb_error *err)
{
	struct gauge gauge = { .watch = &remote->watch, .size = size };
	TKB_AUTO(fetch_release)
	struct fetch fetch = { .digest = digest,
		               .buffer = out,
		               .gauge = &gauge };

	return fetch_blob(remote, &fetch, err);
}
