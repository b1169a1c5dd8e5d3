/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/oci/oci.h"

/*
 * Uploading a blob: by a mount from another repository, in one piece, or, if it is
 * large, in chunks. After a break, only the missing rest is sent, unless the
 * registry has forgotten the upload.
 */

enum {
	TRIES = 5 /* resumptions in a row without progress */
};

#define CHUNK ((uint64_t)16 * TKB_MIB)
#define SMALL ((uint64_t)TKB_MIB) /* a smaller blob is sent again as a whole */

struct upload {
	struct tkb_oci *oci;
	const struct tkb_op_limits *limits;
	const struct tkb_digest *digest;
	const struct tkb_blob *blob;
	struct tkb_buf url; /* where it continues, ended by a NUL */
	uint64_t sent;      /* bytes that the registry has */
};

static void upload_release(struct upload *upload)
{
	tkb_buf_release(&upload->url);
}

static const char *url_of(const struct upload *upload)
{
	return (const char *)upload->url.data;
}

/* How much of the URL may be shown: its query may be a signature. */
static int shown_size(const char *url)
{
	const size_t size = strcspn(url, "?#");

	return size < 200 ? (int)size : 200;
}

/* Each answer names the URL where the upload continues. */
static int follow_location(struct upload *upload, const char *location,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf next = TKB_BUF_INIT(TKB_OCI_URL_LIMIT);
	bool is_same = false;
	int rc;

	if (location[0] == '\0')
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it does not say where an upload continues");
	rc = tkb_http_url_resolve(url_of(upload), location, &next, &is_same,
	                          err);
	if (rc < 0)
		return rc;
	if (!is_same)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it sends uploads to another server, "
		                "'%.*s', which tkbundle does not trust",
		                shown_size((const char *)next.data),
		                (const char *)next.data);
	tkb_buf_release(&upload->url);
	upload->url = next;
	next = (struct tkb_buf){ 0 };
	return 0;
}

/* Request a new upload; the parameters are in the URL's query. */
static int post(struct upload *upload, const char *query, long *status_out,
                struct tkb_error *err)
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
	rc = tkb_oci_url(upload->oci, &arena, "/blobs/uploads/", query,
	                 &request.url, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&upload->url);
	tkb_buf_add_text(&upload->url, request.url);
	tkb_buf_add_byte(&upload->url, '\0');
	rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	*status_out = request.rc == 0 ? request.status : 0;
	if (rc != 0 || request.status == 201)
		return rc;
	return follow_location(upload, location, err);
}

static int begin_upload(struct upload *upload, struct tkb_error *err)
{
	long status = 0;
	int rc;

	rc = post(upload, "", &status, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it takes no uploads (HTTP %ld): it has no "
		                "repository '%.80s' and does not create it, "
		                "or it is not a registry",
		                status, upload->oci->repository);
	return rc;
}

/*
 * Try to mount the blob from the other repository: `*is_there_out` tells whether that
 * worked. If not, begin an upload. If the other repository may not be read, or the
 * registry cannot mount, do not try to mount again.
 */
static int begin_or_mount(struct upload *upload, bool *is_there_out,
                          struct tkb_error *err)
{
	struct tkb_oci *oci = upload->oci;
	char query[TKB_OCI_SCOPE_SIZE];
	struct tkb_error fault = { 0 };
	long status = 0;
	int rc;

	if (oci->mount == NULL)
		return begin_upload(upload, err);
	(void)snprintf(query, sizeof(query), "?mount=sha256:%s&from=%s",
	               tkb_digest_hex(upload->digest).text, oci->mount);
	rc = post(upload, query, &status, &fault);
	*is_there_out = rc == 0 && status == 201;
	if (rc == 0)
		return 0;
	if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED)
		return tkb_fail_as(err, rc, &fault);
	tkb_oci_auth_forget_mount(oci);
	return begin_upload(upload, err);
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

static int fail_forgotten(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "it forgot an upload that it had begun");
}

/* Send the rest of the blob, and finish. */
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
		                            .body = &body,
		                            .is_body_sent_once = true };
	int rc;

	tkb_print(&url, "%s%sdigest=sha256:%s", url_of(upload),
	          strchr(url_of(upload), '?') ? "&" : "?",
	          tkb_digest_hex(upload->digest).text);
	rc = tkb_buf_check(&url, err);
	if (rc < 0)
		return rc;
	request.url = (const char *)url.data;
	rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	return rc == TKB_MISS ? fail_forgotten(err) : rc;
}

/*
 * Ask how much of the upload has arrived. TKB_MISS: the registry has forgotten
 * it.
 */
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
		return rc;
	dash = strchr(range, '-');
	last = dash != NULL ? strtoull(dash + 1, NULL, 10) : 0;
	/* "0-0" also means that nothing has arrived. */
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
		                            .is_body_sent_once = true,
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
	               ? fail_forgotten(err)
	               : rc;
}

static int find_blob(struct upload *upload, bool *is_there_out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request request = { .method = "HEAD" };
	int rc;

	rc = tkb_oci_blob_url(upload->oci, &arena, upload->digest, &request.url,
	                      err);
	if (rc == 0)
		rc = tkb_oci_ask(upload->oci, upload->limits, &request, err);
	*is_there_out = rc == 0 && request.length == upload->blob->size;
	return rc < 0 ? rc : 0;
}

/*
 * Resume after a break. The blob may have arrived completely, with only the answer
 * lost.
 */
static int go_on(struct upload *upload, bool *is_there_out,
                 struct tkb_error *err)
{
	int rc;

	rc = ask_how_much(upload, err);
	if (rc != TKB_MISS)
		return rc;
	rc = find_blob(upload, is_there_out, err);
	return rc == 0 && !*is_there_out ? begin_upload(upload, err) : rc;
}

/* Send the next chunk; with the last one, finish the upload. */
static int send_next(struct upload *upload, bool *is_there_out,
                     struct tkb_error *err)
{
	int rc;

	if (upload->blob->size - upload->sent > CHUNK)
		return send_chunk(upload, CHUNK, err);
	rc = finish_upload(upload, err);
	*is_there_out = rc == 0;
	return rc;
}

static int send_all(struct upload *upload, struct tkb_error *err)
{
	bool is_there = false;
	uint64_t most = 0;
	int tries = 0;

	while (!is_there) {
		struct tkb_error fault = { 0 };
		int rc;

		rc = send_next(upload, &is_there, &fault);
		if (rc == TKB_ERR_UNAVAILABLE && upload->blob->size > SMALL &&
		    ++tries < TRIES)
			rc = go_on(upload, &is_there, &fault);
		if (rc < 0)
			return tkb_fail_as(err, rc, &fault);
		if (upload->sent > most) {
			most = upload->sent;
			tries = 0;
		}
	}
	return 0;
}

int tkb_oci_send(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                 const struct tkb_digest *digest, const struct tkb_blob *blob,
                 struct tkb_error *err)
{
	TKB_AUTO(upload_release)
	struct upload upload = { .oci = oci,
		                 .limits = limits,
		                 .digest = digest,
		                 .blob = blob,
		                 .url = TKB_BUF_INIT(TKB_OCI_URL_LIMIT) };
	bool is_there = false;
	int rc;

	rc = begin_or_mount(&upload, &is_there, err);
	return rc == 0 && !is_there ? send_all(&upload, err) : rc;
}

int tkb_oci_upload(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, const struct tkb_blob *blob,
                   struct tkb_error *err)
{
	struct upload upload = {
		.oci = oci, .limits = limits, .digest = digest, .blob = blob
	};
	bool is_there = false;
	int rc;

	rc = find_blob(&upload, &is_there, err);
	return rc == 0 && !is_there
	               ? tkb_oci_send(oci, limits, digest, blob, err)
	               : rc;
}
