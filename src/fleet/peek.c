/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/peek.h"

enum {
	FIRST_PEEK = 64 * 1024,
	PEEK_GROWTH = 8
};

/* The start of a blob on its way from a tier. */
struct peek {
	const struct tkb_digest *digest;
	struct tkb_buf bytes;
	size_t wanted;
};

static int take(void *self, struct tkb_bytes bytes, struct tkb_error *err)
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

static int get(struct tkb_tier *tier, const struct tkb_call *call, void *self,
               struct tkb_error *err)
{
	struct peek *peek = self;
	const struct tkb_sink sink = { take, peek };

	tkb_buf_reset(&peek->bytes);
	return tier->backend->get(tier->self, call, peek->digest, 0, &sink,
	                          err);
}

static int peek_from(struct tkb_tier *tier, struct peek *peek,
                     struct tkb_error *err)
{
	const struct tkb_tier_work work = { get, peek };
	int rc;

	rc = tkb_tier_do(tier, &work, err);
	return rc < 0 && peek->bytes.size == peek->wanted ? 0 : rc;
}

/* The manifest is pinned, so bytes that lie are found out. */
static int open_header(struct tkb_tier *tier, const struct tkb_record *record,
                       struct tkb_bundle **out, struct tkb_error *err)
{
	const uint64_t size = record->size;
	struct peek peek = { .digest = &record->blob,
		             .bytes = TKB_BUF_INIT(size),
		             .wanted = FIRST_PEEK };
	struct tkb_bytes bytes;
	struct tkb_source source;
	int rc;

	for (;;) {
		if (peek.wanted > size)
			peek.wanted = (size_t)size;
		rc = peek_from(tier, &peek, err);
		if (rc != 0)
			break;
		bytes = tkb_buf_bytes(&peek.bytes);
		source = tkb_memory_source(&bytes);
		rc = tkb_bundle_open_pinned(&source, "a blob", &record->bundle,
		                            &record->frames, out, err);
		if (rc != TKB_ERR_CORRUPT || peek.wanted == size)
			break;
		peek.wanted *= PEEK_GROWTH;
	}
	tkb_buf_release(&peek.bytes);
	return rc;
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
		if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED) {
			if (err != NULL)
				*err = fault;
			return rc;
		}
		tkb_verdict_note(&verdict, &remote->tiers[i], rc, &fault);
	}
	return tkb_verdict_of(&verdict, false, err);
}
