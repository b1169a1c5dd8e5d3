/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/s3/s3.h"

enum {
	BATCH = 256, /* requests per batch */
	KEY_LIMIT = 1024
};

/* Ask for one object. */
static int ask_for(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                   const struct tkb_s3_ask *ask,
                   struct tkb_http_request *request, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	int rc;

	rc = tkb_s3_prepare(s3, ask, &arena, request, err);
	return rc < 0 ? rc : tkb_s3_do(s3, limits, request, err);
}

int tkb_s3_get(void *self, const struct tkb_op_limits *limits,
               const struct tkb_digest *digest, uint64_t offset,
               const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	struct tkb_http_request request = { .offset = offset, .sink = sink };
	struct tkb_s3_ask ask = { .method = "GET" };
	int rc;

	rc = tkb_s3_key(NULL, digest, &key, err);
	ask.key = (const char *)key.data;
	return rc < 0 ? rc : ask_for(self, limits, &ask, &request, err);
}

int tkb_s3_store(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                 const char *key, const struct tkb_digest *digest,
                 const struct tkb_blob *blob, struct tkb_error *err)
{
	const struct tkb_s3_ask ask = {
		.method = "PUT", .key = key, .body = blob, .digest = digest
	};
	struct tkb_http_request request = { .offset = 0 };
	int rc;

	rc = ask_for(s3, limits, &ask, &request, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "it takes nothing (404): there is no bucket "
		                "'%s', or no S3",
		                s3->site.bucket);
	return rc;
}

int tkb_s3_put(void *self, const struct tkb_op_limits *limits,
               const struct tkb_digest *digest, const struct tkb_blob *blob,
               struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	int rc;

	rc = tkb_s3_key(NULL, digest, &key, err);
	if (rc < 0)
		return rc;
	return tkb_s3_store(self, limits, (const char *)key.data, digest, blob,
	                    err);
}

static int stop_at_first(void *self, const struct tkb_s3_item *item,
                         struct tkb_error *err)
{
	(void)self, (void)item;
	return tkb_fail(err, TKB_ERR_CANCELLED, "one is enough");
}

/*
 * An answer to HEAD has no body, so it has no reason. A listing is mostly
 * refused for the same reason, and says it.
 */
static int explain(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                   const struct tkb_http_request *request, int rc,
                   struct tkb_error *err)
{
	const struct tkb_s3_listing listing = { .start = "cas/",
		                                .on_item = stop_at_first };
	struct tkb_error fault = { 0 };

	if (rc != TKB_ERR_DENIED && rc != TKB_ERR_INVALID)
		return rc;
	switch (tkb_s3_list(s3, limits, &listing, &fault)) {
	case TKB_ERR_DENIED:
	case TKB_ERR_INVALID:
		return tkb_fail_as(err, fault.status, &fault);
	default:
		return tkb_fail(err, rc,
		                "it answers %ld: are s3:GetObject and "
		                "s3:ListBucket allowed?",
		                request->status);
	}
}

/*
 * No blob is empty, but some gateways answer HEAD with size 0 for any object.
 */
static uint64_t size_told(const struct tkb_http_request *request)
{
	return request->length != 0 ? request->length : TKB_SIZE_UNKNOWN;
}

static int judge_all(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                     const struct tkb_http_request *requests, size_t count,
                     bool *out, uint64_t *sizes, struct tkb_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const int rc = tkb_s3_judge(s3, limits, &requests[i], err);

		if (rc < 0)
			return explain(s3, limits, &requests[i], rc, err);
		out[i] = rc == 0;
		if (sizes != NULL)
			sizes[i] = size_told(&requests[i]);
	}
	return 0;
}

static int has_batch(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digests, size_t count, bool *out,
                     uint64_t *sizes, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	struct tkb_http_request *requests =
		tkb_arena_alloc(&arena, count, sizeof(*requests));
	int rc = 0;

	if (requests == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		struct tkb_s3_ask ask = { .method = "HEAD" };

		rc = tkb_s3_key(NULL, &digests[i], &key, err);
		ask.key = (const char *)key.data;
		if (rc == 0)
			rc = tkb_s3_prepare(s3, &ask, &arena, &requests[i],
			                    err);
	}
	if (rc == 0)
		rc = tkb_http_client_do(s3->client, limits, requests, count,
		                        err);
	return rc < 0 ? rc
	              : judge_all(s3, limits, requests, count, out, sizes, err);
}

/*
 * By HEAD, not by a listing: these are the blobs of a ref, tens of the
 * thousands in a bucket. A listing of a thousand keys takes longer, and costs
 * more, than ten requests at once.
 */
int tkb_s3_has(void *self, const struct tkb_op_limits *limits,
               const struct tkb_digest *digests, size_t count, bool *out,
               uint64_t *sizes, struct tkb_error *err)
{
	int rc = 0;

	for (size_t at = 0; at < count && rc == 0; at += BATCH)
		rc = has_batch(self, limits, digests + at,
		               count - at < BATCH ? count - at : BATCH,
		               out + at, sizes == NULL ? NULL : sizes + at,
		               err);
	return rc;
}

static int is_there(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                    const char *key, struct tkb_error *err)
{
	const struct tkb_s3_ask ask = { .method = "HEAD", .key = key };
	struct tkb_http_request request = { .offset = 0 };
	int rc;

	rc = ask_for(s3, limits, &ask, &request, err);
	return rc < 0 ? explain(s3, limits, &request, rc, err) : rc;
}

/* DELETE does not say whether there was an object, so ask before. */
int tkb_s3_erase(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                 const char *key, struct tkb_error *err)
{
	const struct tkb_s3_ask ask = { .method = "DELETE", .key = key };
	struct tkb_http_request request = { .offset = 0 };
	int rc;

	rc = is_there(s3, limits, key, err);
	return rc != 0 ? rc : ask_for(s3, limits, &ask, &request, err);
}

int tkb_s3_remove(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_digest *digest, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf key = TKB_BUF_INIT(KEY_LIMIT);
	int rc;

	rc = tkb_s3_key(NULL, digest, &key, err);
	if (rc < 0)
		return rc;
	return tkb_s3_erase(self, limits, (const char *)key.data, err);
}

static int report_blob(void *self, const struct tkb_s3_item *item,
                       struct tkb_error *err)
{
	const struct tkb_blob_visitor *visitor = self;
	struct tkb_digest digest;

	if (!tkb_digest_from_hex(tkb_text(item->name), &digest))
		return 0;
	return visitor->on_blob(visitor->self, &digest, item->size, item->age_s,
	                        err);
}

int tkb_s3_blobs(void *self, const struct tkb_op_limits *limits,
                 const struct tkb_blob_visitor *visitor, struct tkb_error *err)
{
	struct tkb_blob_visitor told = *visitor;
	const struct tkb_s3_listing listing = { .start = "cas/",
		                                .on_item = report_blob,
		                                .self = &told };

	return tkb_s3_list(self, limits, &listing, err);
}
