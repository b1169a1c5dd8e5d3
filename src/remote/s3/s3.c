/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/s3/s3.h"

#include <stdlib.h>

#include "remote/net/url.h"

enum {
	CONNECTIONS = 16 /* since each answer takes tens of milliseconds */
};

static void s3_close(void *self)
{
	struct tkb_s3 *s3 = self;

	if (s3 == NULL)
		return;
	tkb_http_client_close(s3->client);
	tkb_s3_keys_release(&s3->keys);
	tkb_s3_site_release(&s3->site);
	free(s3);
}

TKB_AUTO_POINTER(close_at, struct tkb_s3, s3_close)

static int s3_open(const struct tkb_remote_url *url,
                   const struct tkb_op_limits *limits, void **self_out,
                   struct tkb_error *err)
{
	const struct tkb_http_client_options options = { .url = url,
		                                         .connections =
		                                                 CONNECTIONS };
	TKB_AUTO(close_at)
	struct tkb_s3 *s3 = tkb_alloc_array(1, sizeof(*s3));
	int rc;

	(void)limits;
	if (s3 == NULL)
		return tkb_fail_nomem(err);
	s3->url = url;
	rc = tkb_url_choice(url, "anonymous", &s3->is_anonymous, err);
	if (rc == 0)
		rc = tkb_url_check_tls(url, true, "https", err);
	if (rc == 0)
		rc = tkb_s3_site_read(url, &s3->site, err);
	if (rc == 0 && !s3->is_anonymous)
		rc = tkb_s3_keys_read(url, &s3->keys, err);
	if (rc >= 0)
		rc = tkb_http_client_open(&options, &s3->client, err);
	if (rc == 0)
		*self_out = tkb_take(s3);
	return rc;
}

static int prepare_s3_request(const struct tkb_http_objects *objects,
                              const char *method,
                              const struct tkb_digest *digest,
                              struct tkb_arena *arena,
                              struct tkb_http_request *out,
                              struct tkb_error *err)
{
	const struct tkb_s3_ask ask = { .method = method,
		                        .ref = objects->ref,
		                        .digest = digest };

	return tkb_s3_prepare(objects->self, objects->limits, &ask, arena, out,
	                      err);
}

static int judge_s3_request(const struct tkb_http_objects *objects,
                            const struct tkb_http_request *request,
                            struct tkb_error *err)
{
	return tkb_s3_judge(objects->self, objects->limits, request, err);
}

struct tkb_http_objects tkb_s3_objects_of(struct tkb_s3 *s3,
                                          const struct tkb_op_limits *limits,
                                          const char *ref)
{
	return (struct tkb_http_objects){ .self = s3,
		                          .client = s3->client,
		                          .limits = limits,
		                          .ref = ref,
		                          .prepare = prepare_s3_request,
		                          .judge = judge_s3_request };
}

static int s3_get(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_digest *digest, uint64_t offset,
                  const struct tkb_sink *sink, struct tkb_error *err)
{
	const struct tkb_s3_ask ask = { .method = "GET", .digest = digest };
	struct tkb_http_request request = { .offset = offset, .sink = sink };

	return tkb_s3_do(self, limits, &ask, &request, err);
}

static int put_object(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                      const char *ref, const struct tkb_digest *digest,
                      const struct tkb_blob *blob, struct tkb_error *err)
{
	const struct tkb_s3_ask ask = {
		.method = "PUT", .ref = ref, .digest = digest, .body = blob
	};
	struct tkb_http_request request = { .offset = 0 };
	int rc;

	rc = tkb_s3_do(s3, limits, &ask, &request, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "it cannot store that (404): there is no "
		                "bucket '%s', or no S3",
		                s3->site.bucket);
	return rc;
}

static int s3_put(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_digest *digest, const struct tkb_blob *blob,
                  struct tkb_error *err)
{
	return put_object(self, limits, NULL, digest, blob, err);
}

static int s3_add(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_bytes record, struct tkb_error *err)
{
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };

	return put_object(self, limits, ref, digest, &blob, err);
}

static int stop_at_first(void *self, const struct tkb_s3_item *item,
                         struct tkb_error *err)
{
	(void)self, (void)item;
	return tkb_fail(err, TKB_ERR_CANCELLED, "one is enough");
}

/*
 * The answer to a HEAD has no body, and so no reason. Request a listing: it is
 * usually refused for the same reason, and its answer has it.
 */
static int explain_refused_head(struct tkb_s3 *s3,
                                const struct tkb_op_limits *limits,
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
 * Take size 0 as unknown: no blob is empty, but some gateways answer every HEAD
 * with 0.
 */
static uint64_t size_told(const struct tkb_http_request *request)
{
	return request->length != 0 ? request->length : TKB_SIZE_UNKNOWN;
}

/*
 * Use HEAD, not a listing: a ref has tens of blobs, a bucket thousands. A
 * listing of a thousand keys takes longer, and costs more, than ten requests at
 * once.
 */
static int s3_has(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_digest *digests, size_t count, bool *out,
                  uint64_t *sizes, struct tkb_error *err)
{
	const struct tkb_http_objects objects =
		tkb_s3_objects_of(self, limits, NULL);
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request *requests = NULL;
	int rc;

	rc = tkb_http_objects_head(&objects, digests, count, &arena, &requests,
	                           err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		rc = tkb_s3_judge(self, limits, &requests[i], err);
		if (rc < 0)
			return explain_refused_head(self, limits, &requests[i],
			                            rc, err);
		out[i] = rc == 0;
		if (sizes != NULL)
			sizes[i] = size_told(&requests[i]);
	}
	return 0;
}

/* DELETE does not tell whether the object existed, so ask before. */
static int s3_drop(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err)
{
	struct tkb_s3_ask ask = { .method = "HEAD",
		                  .ref = ref,
		                  .digest = digest };
	struct tkb_http_request request = { .offset = 0 };
	int rc;

	rc = tkb_s3_do(self, limits, &ask, &request, err);
	if (rc != 0)
		return rc < 0 ? explain_refused_head(self, limits, &request, rc,
		                                     err)
		              : rc;
	ask.method = "DELETE";
	request = (struct tkb_http_request){ .offset = 0 };
	return tkb_s3_do(self, limits, &ask, &request, err);
}

static int s3_remove(void *self, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digest, struct tkb_error *err)
{
	return s3_drop(self, limits, NULL, digest, err);
}

static int report_item_blob(void *self, const struct tkb_s3_item *item,
                            struct tkb_error *err)
{
	const struct tkb_blob_visitor *visitor = self;
	struct tkb_digest digest;

	if (!tkb_digest_from_hex(tkb_text(item->name), &digest))
		return 0;
	return visitor->on_blob(visitor->self, &digest, item->size, item->age_s,
	                        err);
}

static int s3_blobs(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_blob_visitor *visitor,
                    struct tkb_error *err)
{
	struct tkb_blob_visitor told = *visitor;
	const struct tkb_s3_listing listing = { .start = "cas/",
		                                .on_item = report_item_blob,
		                                .self = &told };

	return tkb_s3_list(self, limits, &listing, err);
}

const struct tkb_remote_backend tkb_backend_s3 = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.is_shared = true,
	.schemes = (const char *const[]){ "s3", NULL },
	.params = (const char *const[]){ "anonymous", "cafile", "cert",
	                                 "endpoint", "key", "path-style",
	                                 "profile", "region", "server-name",
	                                 "verify", NULL },
	.open = s3_open,
	.close = s3_close,
	.get = s3_get,
	.put = s3_put,
	.has = s3_has,
	.remove = s3_remove,
	.list = s3_blobs,
	.add = s3_add,
	.records = tkb_s3_records,
	.drop = s3_drop,
	.touch = tkb_s3_touch,
	.refs = tkb_s3_refs,
};
