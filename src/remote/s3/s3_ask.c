/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/blob_buffer.h"
#include "base/clock.h"
#include "remote/net/escape.h"
#include "remote/s3/s3.h"

/* Signing requests. */

enum {
	URL_LIMIT = 16 * 1024,
	HEADER_LIMIT = 64 * 1024,
	HEADERS = 8,
	REGION_SIZE = 64,
	PAUSE_S = 60 /* before credentials are looked for again */
};

/* The SHA-256 of no bytes. */
#define EMPTY_DIGEST                                                           \
	"e3b0c44298fc1c149afbf4c8996fb924"                                     \
	"27ae41e4649b934ca495991b7852b855"

void tkb_s3_key(const char *ref, const struct tkb_digest *digest,
                char out[TKB_S3_KEY_SIZE])
{
	char folder[TKB_S3_REF_SIZE] = "";
	char hex[TKB_DIGEST_HEX_SIZE] = "";

	if (ref != NULL)
		tkb_ref_to_folder(ref, folder, sizeof(folder));
	if (digest != NULL)
		tkb_digest_to_hex(digest, hex);
	(void)snprintf(out, TKB_S3_KEY_SIZE, "%s%s%s%s",
	               ref != NULL ? "ref/" : "cas/", folder,
	               folder[0] != '\0' ? "/" : "", hex);
}

/* The parts of a request that are signed. The arena owns the texts. */
struct parts {
	struct tkb_arena *arena;
	const char *path;
	const char *query;
	struct tkb_sigv4_pair headers[HEADERS];
	size_t header_count;
	char date[TKB_SIGV4_DATE_SIZE];
	char payload[TKB_DIGEST_HEX_SIZE];
};

static void add_header(struct parts *parts, const char *name, const char *value)
{
	parts->headers[parts->header_count++] =
		(struct tkb_sigv4_pair){ name, value };
}

static void add_key(const struct tkb_s3 *s3, const struct tkb_s3_ask *ask,
                    struct tkb_buf *out)
{
	char key[TKB_S3_KEY_SIZE];

	tkb_s3_key(ask->ref, ask->digest, key);
	tkb_buf_add_byte(out, '/');
	tkb_escape(out, s3->site.prefix, "/");
	tkb_escape(out, key, "/");
}

static int make_path(const struct tkb_s3 *s3, const struct tkb_s3_ask *ask,
                     struct parts *parts, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf text = TKB_BUF_INIT(URL_LIMIT);
	int rc;

	tkb_buf_add_text(&text, s3->site.path);
	if (ask->digest != NULL)
		add_key(s3, ask, &text);
	else if (text.size == 0)
		tkb_buf_add_byte(&text, '/');
	rc = tkb_arena_copy_buf(parts->arena, &text, &parts->path, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&text);
	rc = tkb_sigv4_query(ask->query, ask->query_count, &text, err);
	return rc < 0 ? rc
	              : tkb_arena_copy_buf(parts->arena, &text, &parts->query,
	                                   err);
}

/* Make the headers in the order of their names: the signature requires that. */
static int make_headers(const struct tkb_s3 *s3, const struct tkb_s3_ask *ask,
                        struct parts *parts, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf source = TKB_BUF_INIT(URL_LIMIT);
	const bool is_signed = s3->keys.id != NULL;
	const char *origin = NULL;
	int rc = 0;

	if (is_signed) {
		add_header(parts, "host", s3->site.host);
		add_header(parts, "x-amz-content-sha256", parts->payload);
	}
	if (ask->is_copy) {
		tkb_print(&source, "/%s", s3->site.bucket);
		add_key(s3, ask, &source);
		rc = tkb_arena_copy_buf(parts->arena, &source, &origin, err);
		add_header(parts, "x-amz-copy-source", origin);
	}
	if (is_signed)
		add_header(parts, "x-amz-date", parts->date);
	if (ask->is_copy)
		add_header(parts, "x-amz-metadata-directive", "REPLACE");
	if (is_signed && s3->keys.token != NULL)
		add_header(parts, "x-amz-security-token", s3->keys.token);
	return rc;
}

static int sign_request(const struct tkb_s3 *s3, const struct tkb_s3_ask *ask,
                        struct parts *parts, struct tkb_error *err)
{
	const struct tkb_sigv4_keys keys = { s3->keys.id, s3->keys.secret,
		                             s3->site.region, "s3" };
	const struct tkb_sigv4_request request = {
		.method = ask->method,
		.path = parts->path,
		.query = parts->query,
		.headers = parts->headers,
		.header_count = parts->header_count,
		.payload = parts->payload,
		.date = parts->date,
	};
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(HEADER_LIMIT);
	const char *value = NULL;
	int rc;

	rc = tkb_sigv4_sign(&keys, &request, &text, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(parts->arena, &text, &value, err);
	if (rc == 0)
		add_header(parts, "authorization", value);
	return rc;
}

static int print_headers(const struct parts *parts,
                         struct tkb_http_request *out, struct tkb_error *err)
{
	const char **lines = tkb_arena_alloc(
		parts->arena, parts->header_count + 1, sizeof(*lines));
	size_t count = 0;

	if (lines == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < parts->header_count; i++) {
		const struct tkb_sigv4_pair *header = &parts->headers[i];
		const size_t size =
			strlen(header->name) + strlen(header->value) + 3;
		char *line;

		if (strcmp(header->name, "host") == 0)
			continue; /* libcurl adds it */
		line = tkb_arena_alloc(parts->arena, size, 1);
		if (line == NULL)
			return tkb_fail_nomem(err);
		(void)snprintf(line, size, "%s: %s", header->name,
		               header->value);
		lines[count++] = line;
	}
	out->headers = lines;
	out->header_count = count;
	return 0;
}

static int print_url(const struct tkb_s3 *s3, const struct parts *parts,
                     struct tkb_http_request *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf url = TKB_BUF_INIT(URL_LIMIT);

	tkb_print(&url, "%s%s%s%s", s3->site.base, parts->path,
	          parts->query[0] != '\0' ? "?" : "", parts->query);
	return tkb_arena_copy_buf(parts->arena, &url, &out->url, err);
}

static int want_region(struct tkb_arena *arena, struct tkb_http_request *out,
                       struct tkb_error *err)
{
	out->wanted = tkb_arena_alloc(arena, 1, sizeof(*out->wanted));
	if (out->wanted == NULL)
		return tkb_fail_nomem(err);
	*out->wanted = (struct tkb_http_header){
		.name = "x-amz-bucket-region",
		.value = tkb_arena_alloc(arena, REGION_SIZE, 1),
		.size = REGION_SIZE,
	};
	if (out->wanted->value == NULL)
		return tkb_fail_nomem(err);
	out->wanted_count = 1;
	return 0;
}

/*
 * Look for credentials if there are none yet, or if those of a role end soon. If
 * there are no others, those that have not ended are used for another while.
 */
static int renew_keys(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };
	const uint64_t now_ns = tkb_now_ns();
	int rc;

	if (s3->is_anonymous ||
	    (s3->keys.id != NULL &&
	     (s3->keys.renew_ns == 0 || s3->keys.renew_ns > now_ns)))
		return 0;
	rc = tkb_s3_keys_find(s3->url, s3->site.region, limits, &keys, err);
	if (rc < 0 && s3->keys.end_ns > now_ns) {
		s3->keys.renew_ns = now_ns + PAUSE_S * TKB_NS_PER_S;
		return 0;
	}
	if (rc < 0)
		return rc;
	tkb_s3_keys_release(&s3->keys);
	s3->keys = keys;
	keys = (struct tkb_s3_keys){ 0 };
	return 0;
}

int tkb_s3_prepare(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                   const struct tkb_s3_ask *ask, struct tkb_arena *arena,
                   struct tkb_http_request *out, struct tkb_error *err)
{
	struct parts parts = { .arena = arena, .payload = EMPTY_DIGEST };
	int rc;

	if (ask->body != NULL && !ask->is_copy)
		tkb_digest_to_hex(ask->digest, parts.payload);
	tkb_sigv4_date((int64_t)time(NULL), parts.date);
	rc = renew_keys(s3, limits, err);
	if (rc == 0)
		rc = make_path(s3, ask, &parts, err);
	if (rc == 0)
		rc = make_headers(s3, ask, &parts, err);
	if (rc == 0 && s3->keys.id != NULL)
		rc = sign_request(s3, ask, &parts, err);
	if (rc == 0)
		rc = print_headers(&parts, out, err);
	if (rc == 0)
		rc = print_url(s3, &parts, out, err);
	out->method = ask->method;
	out->body = ask->body;
	return rc == 0 ? want_region(arena, out, err) : rc;
}
