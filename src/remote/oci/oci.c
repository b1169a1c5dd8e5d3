/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/oci/oci.h"

#include <stdlib.h>

enum {
	CONNECTIONS = 16
};

static void oci_close(void *self)
{
	struct tkb_oci *oci = self;

	if (oci == NULL)
		return;
	tkb_http_client_close(oci->client);
	tkb_oci_auth_release(&oci->auth);
	tkb_oci_seen_release(&oci->seen);
	tkb_arena_release(&oci->arena);
	free(oci);
}

TKB_AUTO_POINTER(close_at, struct tkb_oci, oci_close)

static int oci_open(const struct tkb_remote_url *url,
                    const struct tkb_op_limits *limits, void **self_out,
                    struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_oci *oci = tkb_alloc_array(1, sizeof(*oci));
	struct tkb_http_client_options options = { .url = url,
		                                   .header_count = 1,
		                                   .connections = CONNECTIONS };
	int rc;

	(void)limits;
	if (oci == NULL)
		return tkb_fail_nomem(err);
	options.headers = oci->lines;
	rc = tkb_oci_site_read(url, oci, err);
	if (rc == 0)
		rc = tkb_http_client_open(&options, &oci->client, err);
	if (rc == 0)
		*self_out = tkb_take(oci);
	return rc;
}

static int oci_get(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, uint64_t offset,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request request = { .method = "GET",
		                            .offset = offset,
		                            .sink = sink };
	int rc;

	rc = tkb_oci_blob_url(self, &arena, digest, &request.url, err);
	return rc == 0 ? tkb_oci_ask(self, limits, &request, err) : rc;
}

static int oci_put(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, const struct tkb_blob *blob,
                   struct tkb_error *err)
{
	const struct tkb_oci_item item = { .digest = digest,
		                           .size = blob->size };

	return tkb_oci_store(self, limits, &item, blob, err);
}

/*
 * A blob counts as present only if its manifest is present, too: the registry
 * may collect a blob that no manifest names at any time.
 */
static int prepare_heads(struct tkb_oci *oci, const struct tkb_digest *digest,
                         struct tkb_arena *arena,
                         struct tkb_http_request *requests,
                         struct tkb_error *err)
{
	static const char *const accept[] = {
		"Accept: application/vnd.oci.image.manifest.v1+json"
	};
	char tag[TKB_OCI_TAG_SIZE];
	int rc;

	requests[0] = (struct tkb_http_request){ .method = "HEAD" };
	requests[1] = (struct tkb_http_request){ .method = "HEAD",
		                                 .headers = accept,
		                                 .header_count = 1 };
	rc = tkb_oci_blob_url(oci, arena, digest, &requests[0].url, err);
	if (rc == 0)
		rc = tkb_oci_tag(NULL, digest, tag, err);
	return rc == 0 ? tkb_oci_url(oci, arena, "/manifests/", tag,
	                             &requests[1].url, err)
	               : rc;
}

static int oci_has(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digests, size_t count, bool *out,
                   uint64_t *sizes, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request *requests =
		tkb_arena_alloc(&arena, 2 * count, sizeof(*requests));
	int rc = 0;

	if (requests == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = prepare_heads(self, &digests[i], &arena, &requests[2 * i],
		                   err);
	if (rc == 0)
		rc = tkb_oci_do(self, limits, requests, 2 * count, err);
	for (size_t i = 0; i < count && rc >= 0; i++) {
		const struct tkb_http_request *pair = &requests[2 * i];
		int named;

		rc = tkb_http_request_judge(&pair[0], limits, err);
		named = rc < 0 ? rc
		               : tkb_http_request_judge(&pair[1], limits, err);
		out[i] = rc == 0 && named == 0;
		if (sizes != NULL)
			sizes[i] = pair[0].length;
		rc = named < 0 ? named : rc;
	}
	return rc < 0 ? rc : 0;
}

/*
 * Delete the manifest first: as long as it exists, so must the blob. If the
 * registry refuses to delete the blob, its garbage collection will.
 */
static int oci_remove(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digest, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_oci_item item = { .digest = digest };
	struct tkb_http_request request = { .method = "DELETE" };
	int rc;

	rc = tkb_oci_manifest_delete(self, limits, &item, err);
	if (rc == 0)
		rc = tkb_oci_blob_url(self, &arena, digest, &request.url, err);
	if (rc != 0)
		return rc;
	rc = tkb_oci_ask(self, limits, &request, err);
	return rc == TKB_MISS || rc == TKB_ERR_DENIED ? 0 : rc;
}

/* A listing of blobs. */
struct listing {
	const struct tkb_oci_tags *tags;
	const struct tkb_blob_visitor *visitor;
};

static int tell_blob(void *self, size_t index, int rc,
                     const struct tkb_oci_manifest *manifest,
                     const struct tkb_error *why, struct tkb_error *err)
{
	const struct listing *listing = self;
	struct tkb_digest digest;
	size_t start;

	if (rc == TKB_MISS ||
	    !tkb_oci_tag_read(listing->tags->items[index], &digest, &start))
		return 0;
	if (rc < 0)
		return tkb_fail_as(err, rc, why);
	return listing->visitor->on_blob(listing->visitor->self, &digest,
	                                 manifest->size, manifest->age_s, err);
}

static int oci_list(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_blob_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_oci_tags_release) struct tkb_oci_tags tags = { 0 };
	struct listing listing = { &tags, visitor };
	const struct tkb_oci_manifest_visitor manifests = { tell_blob,
		                                            &listing };
	int rc;

	rc = tkb_oci_tags_read(self, limits, "b.", &tags, err);
	return rc == 0 ? tkb_oci_manifests(self, limits, tags.items, tags.count,
	                                   &manifests, err)
	               : rc;
}

const struct tkb_remote_backend tkb_backend_oci = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.is_shared = true,
	.schemes = (const char *const[]){ "oci", "oci+http", NULL },
	.params = (const char *const[]){ "cafile", "cert", "key", "mount",
	                                 "server-name", "verify", NULL },
	.open = oci_open,
	.close = oci_close,
	.get = oci_get,
	.put = oci_put,
	.has = oci_has,
	.remove = oci_remove,
	.list = oci_list,
	.add = tkb_oci_add,
	.records = tkb_oci_records,
	.drop = tkb_oci_drop,
	.touch = tkb_oci_touch,
	.refs = tkb_oci_refs,
	.put_image = tkb_oci_put_image,
	.get_image = tkb_oci_get_image,
	.get_referrers = tkb_oci_get_referrers,
};
