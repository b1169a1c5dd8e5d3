/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/blob_buffer.h"
#include "remote/oci/oci.h"

/*
 * Images: manifests of other media types than ours, and the blobs that they
 * name.
 */

#define OCI "application/vnd.oci.image."
#define DOCKER "application/vnd.docker.distribution.manifest."

static const char *const accept[] = { "Accept: " OCI "manifest.v1+json, " OCI
	                              "index.v1+json, " DOCKER
	                              "v2+json, " DOCKER "list.v2+json" };

static int put_manifest(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                        const struct tkb_image_manifest *manifest,
                        bool *is_listed_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_blob body = { manifest->text.size,
		                       tkb_memory_source(&manifest->text) };
	char type[256];
	const char *const headers[] = { type };
	char subject[128] = "";
	struct tkb_http_header wanted = { "OCI-Subject", subject,
		                          sizeof(subject) };
	struct tkb_http_request request = { .method = "PUT",
		                            .headers = headers,
		                            .header_count = 1,
		                            .body = &body,
		                            .wanted = &wanted,
		                            .wanted_count = 1 };
	int rc;

	(void)snprintf(type, sizeof(type), "Content-Type: %.200s",
	               manifest->media_type);
	rc = tkb_oci_url(oci, &arena, "/manifests/", manifest->name,
	                 &request.url, err);
	if (rc == 0)
		rc = tkb_oci_ask(oci, limits, &request, err);
	*is_listed_out = rc == 0 && subject[0] != '\0';
	if (rc == TKB_MISS || (rc == TKB_ERR_DENIED && request.status == 400))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it does not take the image's manifest (HTTP "
		                "%ld)",
		                request.status);
	return rc;
}

int tkb_oci_put_image(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_image_manifest *manifest,
                      bool *is_listed_out, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < manifest->blob_count && rc == 0; i++)
		rc = tkb_oci_upload(self, limits, &manifest->digests[i],
		                    &manifest->blobs[i], err);
	return rc == 0 ? put_manifest(self, limits, manifest, is_listed_out,
	                              err)
	               : rc;
}

static int get_text(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                    const char *kind, const char *name,
                    const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_OCI_MANIFEST_LIMIT);
	const struct tkb_sink into = tkb_buf_sink(&text);
	struct tkb_http_request request = { .method = "GET",
		                            .headers = accept,
		                            .header_count = 1,
		                            .sink = &into };
	int rc;

	rc = tkb_oci_url(oci, &arena, kind, name, &request.url, err);
	if (rc == 0)
		rc = tkb_oci_do(oci, limits, &request, 1, err);
	if (rc < 0)
		return rc;
	if (request.rc == TKB_ERR_TOO_LARGE)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "the manifest '%.140s' has more than %d bytes",
		                name, TKB_OCI_MANIFEST_LIMIT);
	rc = tkb_http_request_judge(&request, limits, err);
	return rc == 0 ? sink->write(sink->self, tkb_buf_bytes(&text), err)
	               : rc;
}

int tkb_oci_get_image(void *self, const struct tkb_op_limits *limits,
                      const char *name, const struct tkb_sink *sink,
                      struct tkb_error *err)
{
	return get_text(self, limits, "/manifests/", name, sink, err);
}

int tkb_oci_get_referrers(void *self, const struct tkb_op_limits *limits,
                          const struct tkb_digest *subject,
                          const struct tkb_sink *sink, struct tkb_error *err)
{
	return get_text(self, limits,
	                "/referrers/sha256:", tkb_digest_hex(subject).text,
	                sink, err);
}
