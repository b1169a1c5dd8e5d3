/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/http/http.h"

static int prepare_http_request(const struct tkb_http_objects *objects,
                                const char *method,
                                const struct tkb_digest *digest,
                                struct tkb_arena *arena,
                                struct tkb_http_request *out,
                                struct tkb_error *err)
{
	char folder[TKB_HTTP_FOLDER_SIZE] = "cas";

	if (objects->ref != NULL)
		tkb_http_ref_folder(objects->ref, folder);
	out->method = method;
	return tkb_http_url(objects->self, arena, folder,
	                    tkb_digest_hex(digest).text, &out->url, err);
}

struct tkb_http_objects tkb_http_objects_of(struct tkb_http *http,
                                            const struct tkb_op_limits *limits,
                                            const char *ref)
{
	return (struct tkb_http_objects){ .self = http,
		                          .client = http->client,
		                          .limits = limits,
		                          .ref = ref,
		                          .prepare = prepare_http_request };
}

static int http_get(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_digest *digest, uint64_t offset,
                    const struct tkb_sink *sink, struct tkb_error *err)
{
	struct tkb_http_request request = { .method = "GET",
		                            .offset = offset,
		                            .sink = sink };

	return tkb_http_ask(self, limits, "cas", tkb_digest_hex(digest).text,
	                    &request, err);
}

static int http_put(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_digest *digest,
                    const struct tkb_blob *blob, struct tkb_error *err)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_find_mode(self, limits, err);
	if (rc == 0)
		rc = tkb_http_edit_index(self, limits, "cas", hex, true, err);
	if (rc == 0)
		rc = tkb_http_put(self, limits,
		                  &(struct tkb_http_put){ .folder = "cas",
		                                          .name = hex,
		                                          .blob = blob },
		                  err);
	return rc;
}

static int take_none(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	return bytes.size == 0 ? 0 : tkb_fail(err, TKB_ERR_TOO_LARGE, "a byte");
}

/*
 * Some servers answer every HEAD with Content-Length 0. Check by GET whether
 * the blob is empty; if not, its size is unknown.
 */
static int check_empty(struct tkb_http *http,
                       const struct tkb_op_limits *limits, const char *url,
                       uint64_t *size, struct tkb_error *err)
{
	const struct tkb_sink sink = { take_none, NULL };
	struct tkb_http_request request = { .method = "GET",
		                            .url = url,
		                            .sink = &sink };
	int rc;

	rc = tkb_http_client_do(http->client, limits, &request, 1, err);
	if (rc < 0)
		return rc;
	if (request.rc != TKB_ERR_TOO_LARGE)
		return tkb_http_request_judge(&request, limits, err);
	*size = TKB_SIZE_UNKNOWN;
	return 0;
}

static int judge_head(struct tkb_http *http, const struct tkb_op_limits *limits,
                      const struct tkb_http_request *request, bool *out,
                      uint64_t *size, struct tkb_error *err)
{
	int rc;

	rc = tkb_http_request_judge(request, limits, err);
	if (rc == 0 && size != NULL) {
		*size = request->length;
		if (*size == 0)
			rc = check_empty(http, limits, request->url, size, err);
	}
	*out = rc == 0;
	return rc;
}

static int http_has(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_digest *digests, size_t count, bool *out,
                    uint64_t *sizes, struct tkb_error *err)
{
	const struct tkb_http_objects objects =
		tkb_http_objects_of(self, limits, NULL);
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request *requests = NULL;
	int rc;

	rc = tkb_http_objects_head(&objects, digests, count, &arena, &requests,
	                           err);
	for (size_t i = 0; i < count && rc >= 0; i++)
		rc = judge_head(self, limits, &requests[i], &out[i],
		                sizes == NULL ? NULL : &sizes[i], err);
	return rc < 0 ? rc : 0;
}

static int http_remove(void *self, const struct tkb_op_limits *limits,
                       const struct tkb_digest *digest, struct tkb_error *err)
{
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_digest_to_hex(digest, hex);
	rc = tkb_http_find_mode(self, limits, err);
	if (rc == 0)
		rc = tkb_http_delete(self, limits, "cas", hex, err);
	if (rc >= 0) {
		const int noted = tkb_http_edit_index(self, limits, "cas", hex,
		                                      false, err);

		rc = noted < 0 ? noted : rc;
	}
	return rc;
}

const struct tkb_remote_backend tkb_backend_http = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.is_shared = true,
	.schemes = (const char *const[]){ "http", "https", NULL },
	.params = (const char *const[]){ "bearer", "bearer-file", "cafile",
	                                 "cert", "connections", "header", "key",
	                                 "listing", "netrc", "server-name",
	                                 "single-writer", "verify", NULL },
	.open = tkb_http_open,
	.close = tkb_http_close,
	.get = http_get,
	.put = http_put,
	.has = http_has,
	.remove = http_remove,
	.list = tkb_http_list_blobs,
	.add = tkb_http_add,
	.records = tkb_http_records,
	.drop = tkb_http_drop,
	.touch = tkb_http_touch,
	.refs = tkb_http_refs,
};
