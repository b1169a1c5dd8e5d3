/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/blob_buffer.h"
#include "remote/oci/oci.h"

/*
 * Uploading a blob: in one piece, or, if it is large, in chunks, of which only
 * what did not arrive is sent again.
 */

enum {
	TRIES = 5,         /* of going on, without a byte more there */
	MANIFEST_TRIES = 4 /* where its blobs seem to be missing */
};

#define CHUNK ((uint64_t)16 * TKB_MIB)

struct upload {
	struct tkb_oci *oci;
	const struct tkb_op_limits *limits;
	const struct tkb_digest *digest;
	const struct tkb_blob *blob;
	struct tkb_buf url; /* where it goes on, ended by a zero */
	uint64_t sent;      /* what the registry has */
};

static void upload_release(struct upload *upload)
{
	tkb_buf_release(&upload->url);
}

static const char *url_of(const struct upload *upload)
{
	return (const char *)upload->url.data;
}

/* Each answer names the place where the upload goes on. */
static int follow_location(struct upload *upload, const char *location,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf next = TKB_BUF_INIT(TKB_OCI_URL_LIMIT);
	bool is_same = false;
	int rc;

	if (location[0] == '\0')
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it says not where an upload goes on");
	rc = tkb_http_url_resolve(url_of(upload), location, &next, &is_same,
	                          err);
	if (rc < 0)
		return rc;
	if (!is_same)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it sends uploads to another server, '%.200s', "
		                "which gets nothing of ours",
		                (const char *)next.data);
	tkb_buf_release(&upload->url);
	upload->url = next;
	next = (struct tkb_buf){ 0 };
	return 0;
}

static int begin_upload(struct upload *upload, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_bytes nothing = { "", 0 };
	const struct tkb_blob empty = { 0, tkb_memory_source(&nothing) };
	char location[TKB_OCI_HEADER_SIZE];
	struct tkb_http_header wanted = { "Location", location,
		                          sizeof(location) };
	struct tkb_http_request request = { .method = "POST",
		                            .body = &empty,
		                            .wanted = &wanted,
		                            .wanted_count = 1 };
	int rc;

	upload->sent = 0;
	rc = tkb_oci_url(upload->oci, &arena, "/blobs/uploads/", "",
	                 &request.url, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&upload->url);
	tkb_buf_add_text(&upload->url, request.url);
	tkb_buf_add_byte(&upload->url, '\0');
	rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it takes no uploads (HTTP %ld): it has no "
		                "repository '%.80s' and makes none, or it is "
		                "no registry",
		                request.status, upload->oci->repository);
	return rc == 0 ? follow_location(upload, location, err) : rc;
}

/* Bytes from `offset` on, as a blob. */
struct part {
	const struct tkb_blob *blob;
	uint64_t offset;
};

static int read_part(void *self, uint64_t offset, void *data, size_t size,
                     size_t *got_out, struct tkb_error *err)
{
	const struct part *part = self;
	const struct tkb_source *source = &part->blob->source;

	return source->read_at(source->self, part->offset + offset, data, size,
	                       got_out, err);
}

/* The rest of the blob, and its end. */
static int finish_upload(struct upload *upload, struct tkb_error *err)
{
	static const char *const headers[] = {
		"Content-Type: application/octet-stream"
	};
	struct part part = { upload->blob, upload->sent };
	const struct tkb_blob body = { upload->blob->size - upload->sent,
		                       { read_part, &part } };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf url = TKB_BUF_INIT(TKB_OCI_URL_LIMIT);
	struct tkb_http_request request = { .method = "PUT",
		                            .headers = headers,
		                            .header_count = 1,
		                            .body = &body };
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	tkb_digest_to_hex(upload->digest, hex);
	tkb_buf_add_text(&url, url_of(upload));
	tkb_buf_add_text(&url, strchr(url_of(upload), '?') ? "&" : "?");
	tkb_buf_add_text(&url, "digest=sha256:");
	tkb_buf_add_text(&url, hex);
	tkb_buf_add_byte(&url, '\0');
	rc = tkb_buf_check(&url, err);
	if (rc < 0)
		return rc;
	request.url = (const char *)url.data;
	rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it forgot an upload that it had begun");
	return rc;
}

/* Ask how much of the upload is there. */
static int ask_how_much(struct upload *upload, struct tkb_error *err)
{
	char location[TKB_OCI_HEADER_SIZE];
	char range[64];
	struct tkb_http_header wanted[] = {
		{ "Location", location, sizeof(location) },
		{ "Range", range, sizeof(range) },
	};
	struct tkb_http_request request = { .method = "GET",
		                            .url = url_of(upload),
		                            .wanted = wanted,
		                            .wanted_count = 2 };
	unsigned long long last = 0;
	const char *dash;
	int rc;

	rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	if (rc != 0)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it forgot an upload that it had begun");
	dash = strchr(range, '-');
	last = dash != NULL ? strtoull(dash + 1, NULL, 10) : 0;
	/* "0-0" is said of nothing, too. */
	upload->sent = last == 0 ? 0 : last + 1;
	if (upload->sent > upload->blob->size)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it has more of an upload than was sent");
	return follow_location(upload, location, err);
}

static int send_chunk(struct upload *upload, uint64_t size,
                      struct tkb_error *err)
{
	struct part part = { upload->blob, upload->sent };
	const struct tkb_blob body = { size, { read_part, &part } };
	char location[TKB_OCI_HEADER_SIZE];
	char range[64];
	const char *const headers[] = {
		"Content-Type: application/octet-stream", range
	};
	struct tkb_http_header wanted = { "Location", location,
		                          sizeof(location) };
	struct tkb_http_request request = { .method = "PATCH",
		                            .url = url_of(upload),
		                            .headers = headers,
		                            .header_count = 2,
		                            .body = &body,
		                            .wanted = &wanted,
		                            .wanted_count = 1 };
	int rc;

	(void)snprintf(range, sizeof(range), "Content-Range: %llu-%llu",
	               (unsigned long long)upload->sent,
	               (unsigned long long)(upload->sent + size - 1));
	rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	if (rc == 0)
		rc = follow_location(upload, location, err);
	if (rc == 0)
		upload->sent += size;
	return rc == TKB_MISS || (rc < 0 && request.status == 416)
	               ? TKB_ERR_UNAVAILABLE
	               : rc;
}

/* Send the chunks before the last one. */
static int send_chunks(struct upload *upload, struct tkb_error *err)
{
	int tries = 0;
	int rc = 0;

	while (rc == 0 && upload->blob->size - upload->sent > CHUNK) {
		const uint64_t before = upload->sent;
		struct tkb_error fault = { 0 };

		rc = send_chunk(upload, CHUNK, &fault);
		if (rc == TKB_ERR_UNAVAILABLE && ++tries < TRIES)
			rc = ask_how_much(upload, &fault);
		if (rc < 0)
			return tkb_fail_as(err, rc, &fault);
		if (upload->sent > before)
			tries = 0;
	}
	return rc;
}

static int upload_blob(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                       const struct tkb_digest *digest,
                       const struct tkb_blob *blob, struct tkb_error *err)
{
	TKB_AUTO(upload_release)
	struct upload upload = { .oci = oci,
		                 .limits = limits,
		                 .digest = digest,
		                 .blob = blob,
		                 .url = TKB_BUF_INIT(TKB_OCI_URL_LIMIT) };
	int rc;

	rc = begin_upload(&upload, err);
	if (rc == 0)
		rc = send_chunks(&upload, err);
	return rc == 0 ? finish_upload(&upload, err) : rc;
}

int tkb_oci_upload(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, const struct tkb_blob *blob,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request request = { .method = "HEAD" };
	int rc;

	rc = tkb_oci_blob_url(oci, &arena, digest, &request.url, err);
	if (rc == 0)
		rc = tkb_oci_ask(oci, limits, &request, err);
	if (rc < 0 || (rc == 0 && request.length == blob->size))
		return rc;
	return upload_blob(oci, limits, digest, blob, err);
}

/* The blob that each manifest names as its configuration. */
static int put_empty(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                     struct tkb_error *err)
{
	const struct tkb_bytes text = { "{}", 2 };
	const struct tkb_blob blob = { text.size, tkb_memory_source(&text) };
	struct tkb_digest digest;
	int rc;

	rc = tkb_digest_of(text, &digest, err);
	return rc == 0 ? upload_blob(oci, limits, &digest, &blob, err) : rc;
}

/*
 * Is this blob there, and the empty one, which all manifests name as configuration?
 * Asked each time: a registry collects that, too, once no manifest names it.
 */
static int find_blobs(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      const struct tkb_oci_item *item, bool *has_out,
                      bool *has_empty_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request requests[] = { { .method = "HEAD" },
		                               { .method = "HEAD" } };
	const size_t count = TKB_COUNT_OF(requests);
	struct tkb_digest empty;
	int rc;

	rc = tkb_digest_of((struct tkb_bytes){ "{}", 2 }, &empty, err);
	if (rc == 0)
		rc = tkb_oci_blob_url(oci, &arena, item->digest,
		                      &requests[0].url, err);
	if (rc == 0)
		rc = tkb_oci_blob_url(oci, &arena, &empty, &requests[1].url,
		                      err);
	if (rc == 0)
		rc = tkb_oci_do(oci, limits, requests, count, err);
	for (size_t i = 0; i < count && rc >= 0; i++)
		rc = tkb_http_request_judge(&requests[i], limits, err);
	if (rc < 0)
		return rc;
	*has_out =
		requests[0].status == 200 && requests[0].length == item->size;
	*has_empty_out = requests[1].status == 200;
	return 0;
}

static int store_once(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      const struct tkb_oci_item *item,
                      const struct tkb_blob *blob, bool *lacks_blob_out,
                      struct tkb_error *err)
{
	bool has = false;
	bool has_empty = false;
	int rc;

	*lacks_blob_out = false;
	rc = find_blobs(oci, limits, item, &has, &has_empty, err);
	if (rc == 0 && !has)
		rc = upload_blob(oci, limits, item->digest, blob, err);
	if (rc == 0 && !has_empty)
		rc = put_empty(oci, limits, err);
	return rc == 0 ? tkb_oci_manifest_put(oci, limits, item, lacks_blob_out,
	                                      err)
	               : rc;
}

/*
 * While another client puts the same blob, a registry that keeps it in files can deny
 * for a moment that it has it.
 */
int tkb_oci_store(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                  const struct tkb_oci_item *item, const struct tkb_blob *blob,
                  struct tkb_error *err)
{
	struct timespec nap = { .tv_nsec = 20000000 };
	bool lacks_blob = false;
	int rc;

	for (int turn = 0;; turn++) {
		rc = store_once(oci, limits, item, blob, &lacks_blob, err);
		if (!lacks_blob || turn == MANIFEST_TRIES - 1)
			return rc;
		(void)nanosleep(&nap, NULL);
		nap.tv_nsec *= 2;
	}
}
