/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/peek.h"

#include "format/frame.h"

enum {
	FIRST_PEEK = 64 * 1024,
	PEEK_GROWTH = 8,
	/* A header frame is never larger. */
	PEEK_LIMIT = 64 * 1024 * 1024
};

/* The start of a blob, as received from a tier. */
struct peek {
	const struct tkb_digest *digest;
	struct tkb_buf bytes;
	size_t wanted;
};

static void peek_release(struct peek *peek)
{
	tkb_buf_release(&peek->bytes);
}

static int keep_start(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct peek *peek = self;
	const size_t room = peek->wanted - peek->bytes.size;

	tkb_buf_add(&peek->bytes,
	            tkb_bytes_slice(bytes, 0,
	                            bytes.size < room ? bytes.size : room));
	if (peek->bytes.failure != 0)
		return tkb_buf_check(&peek->bytes, err);
	return peek->bytes.size < peek->wanted
	               ? 0
	               : tkb_fail(err, TKB_ERR_TOO_LARGE, "that will do");
}

static int get_start(struct tkb_tier *tier, const struct tkb_op_limits *call,
                     void *self, struct tkb_error *err)
{
	struct peek *peek = self;
	const struct tkb_sink sink = { keep_start, peek };

	tkb_buf_reset(&peek->bytes);
	return tier->backend->get(tier->self, call, peek->digest, 0, &sink,
	                          err);
}

static int peek_from(struct tkb_tier *tier, struct peek *peek,
                     struct tkb_error *err)
{
	const struct tkb_tier_work work = { get_start, peek };
	int rc;

	rc = tkb_tier_do(tier, &work, err);
	return rc < 0 && peek->bytes.size == peek->wanted ? 0 : rc;
}

/* Fetch at least the bundle's first frame. */
static int fetch_header(struct tkb_tier *tier, struct peek *peek, size_t limit,
                        struct tkb_error *err)
{
	for (peek->wanted = FIRST_PEEK;; peek->wanted *= PEEK_GROWTH) {
		uint64_t size;
		size_t packed;
		int rc;

		if (peek->wanted > limit)
			peek->wanted = limit;
		rc = peek_from(tier, peek, err);
		if (rc != 0)
			return rc;
		rc = tkb_frame_measure(tkb_buf_bytes(&peek->bytes), &packed,
		                       &size, err);
		/* If the start is too short, opening it reports that. */
		if (rc != TKB_MISS || peek->wanted == limit)
			return rc < 0 ? rc : 0;
	}
}

/* Open the bundle; the manifest must have the digest from the record. */
static int open_header(struct tkb_tier *tier, const struct tkb_record *record,
                       struct tkb_bundle **out, struct tkb_error *err)
{
	const size_t limit =
		record->size < PEEK_LIMIT ? (size_t)record->size : PEEK_LIMIT;
	TKB_AUTO(peek_release)
	struct peek peek = { .digest = &record->blob,
		             .bytes = TKB_BUF_INIT(limit) };
	struct tkb_bytes bytes;
	struct tkb_source source;
	int rc;

	rc = fetch_header(tier, &peek, limit, err);
	if (rc != 0)
		return rc;
	bytes = tkb_buf_bytes(&peek.bytes);
	source = tkb_memory_source(&bytes);
	return tkb_bundle_open_pinned(&source, "a blob", &record->bundle,
	                              &record->frames, out, err);
}

int tkb_remote_peek(struct tkb_remote *remote, const struct tkb_record *record,
                    struct tkb_bundle **out, struct tkb_error *err)
{
	struct tkb_verdict verdict = { 0 };

	for (size_t i = 0; i < remote->tier_count; i++) {
		struct tkb_error fault = { 0 };
		int rc;

		rc = open_header(&remote->tiers[i], record, out, &fault);
		if (rc == 0)
			return 0;
		if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED)
			return tkb_fail_as(err, rc, &fault);
		tkb_verdict_note(&verdict, &remote->tiers[i], rc, &fault);
	}
	return tkb_verdict_of(&verdict, false, err);
}
