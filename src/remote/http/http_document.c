/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"
#include "remote/net/wire.h"

/*
 * Documents: "tkbundle index 1" and a name a line. One is replaced only under
 * If-Match, and the change is made anew where somebody else was faster.
 */

enum {
	DOCUMENT_LIMIT = 8 * 1024 * 1024,
	PAUSE_LIMIT_MS = 50,
	LINE_SIZE = 256
};

#define FIRST_LINE "tkbundle index 1\n"
#define NS_PER_MS ((uint64_t)1000000)

void tkb_http_document(const char *folder, const char *hex,
                       char out[TKB_HTTP_FOLDER_SIZE])
{
	(void)snprintf(out, TKB_HTTP_FOLDER_SIZE, "%s%s%.1s", folder,
	               hex != NULL ? "," : "", hex != NULL ? hex : "");
	for (char *at = out; *at != '\0'; at++)
		*at = *at == '/' ? ',' : *at;
}

static bool is_document(struct tkb_bytes body)
{
	const size_t size = strlen(FIRST_LINE);

	return body.size >= size && memcmp(body.data, FIRST_LINE, size) == 0 &&
	       ((const char *)body.data)[body.size - 1] == '\n';
}

static int fail_document(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "no document of tkbundle's");
}

int tkb_http_read_document(struct tkb_bytes body,
                           struct tkb_http_listing *listing,
                           struct tkb_error *err)
{
	const struct tkb_http_file file = { .size = UINT64_MAX };
	size_t at = strlen(FIRST_LINE);
	int rc = 0;

	if (!is_document(body))
		return fail_document(err);
	while (at < body.size && rc == 0) {
		const char *line = (const char *)body.data + at;
		const char *end = memchr(line, '\n', body.size - at);
		const size_t size = (size_t)(end - line);

		if (size == 0 || size >= LINE_SIZE)
			return fail_document(err);
		rc = tkb_http_listing_add(
			listing, (struct tkb_bytes){ line, size }, &file, err);
		at += size + 1;
	}
	return rc;
}

/* Where line `name` begins; the document's size where it has none. */
static size_t find_line(struct tkb_bytes document, const char *name)
{
	const size_t size = strlen(name);
	size_t at = strlen(FIRST_LINE);

	while (at < document.size) {
		const char *line = (const char *)document.data + at;
		const char *end = memchr(line, '\n', document.size - at);

		if ((size_t)(end - line) == size &&
		    memcmp(line, name, size) == 0)
			return at;
		at += (size_t)(end - line) + 1;
	}
	return at;
}

/* False: nothing is to be changed. */
static bool change(struct tkb_bytes old, const char *name, bool is_there,
                   struct tkb_buf *out)
{
	const size_t at = find_line(old, name);

	if (name[0] == '\0')
		return false;
	if ((at < old.size) == is_there)
		return false;
	tkb_buf_add(out, tkb_bytes_slice(old, 0, at));
	if (is_there) {
		tkb_buf_add_text(out, name);
		tkb_buf_add_byte(out, '\n');
		return true;
	}
	tkb_buf_add(out, tkb_bytes_slice(old, at + strlen(name) + 1, old.size));
	return true;
}

/* One that can be held against another: RFC 9110 calls the others weak. */
static bool is_strong(const char *etag)
{
	return etag[0] == '"' && strlen(etag) >= 2;
}

/* A document, and the condition under which it is still so. */
struct document {
	struct tkb_buf body;
	char condition[160]; /* a header; "": there is none */
	bool is_new;
};

static void document_release(struct document *document)
{
	tkb_buf_release(&document->body);
}

static int load(struct tkb_http *http, const struct tkb_op_limits *call,
                const char *name, struct document *document,
                struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_sink sink = tkb_buf_sink(&document->body);
	struct tkb_web_request request = { .method = "GET",
		                           .sink = &sink,
		                           .limit = DOCUMENT_LIMIT };
	int rc;

	tkb_buf_reset(&document->body);
	document->condition[0] = '\0';
	rc = tkb_http_url(http, &arena, "index", name, &request.url, err);
	if (rc == 0)
		rc = tkb_http_ask(http, call, &request, err);
	document->is_new = rc == TKB_MISS;
	if (rc == TKB_MISS) {
		tkb_buf_add_text(&document->body, FIRST_LINE);
		(void)snprintf(document->condition, sizeof(document->condition),
		               "If-None-Match: *");
		return tkb_buf_check(&document->body, err);
	}
	if (rc == 0 && !is_document(tkb_buf_bytes(&document->body)))
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its document 'index/%s' is none of tkbundle's",
		                name);
	if (rc == 0 && is_strong(request.etag))
		(void)snprintf(document->condition, sizeof(document->condition),
		               "If-Match: %s", request.etag);
	return rc;
}

/* Those who were in each other's way do not come back together. */
static void pause_a_little(const struct tkb_op_limits *call, unsigned attempt)
{
	const unsigned limit_ms =
		attempt < 5 ? 2u << attempt : (unsigned)PAUSE_LIMIT_MS;
	const uint64_t now = tkb_now_ns();
	struct timespec nap = { 0 };
	unsigned random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (unsigned)now;
	nap.tv_nsec = (long)(random % (limit_ms * 1000)) * 1000;
	if (now + (uint64_t)nap.tv_nsec < call->deadline_ns)
		(void)nanosleep(&nap, NULL);
}

static int store(struct tkb_http *http, const struct tkb_op_limits *call,
                 const char *name, const struct document *document,
                 struct tkb_bytes body, struct tkb_error *err)
{
	const struct tkb_blob blob = { body.size, tkb_memory_source(&body) };
	const struct tkb_http_put put = {
		.folder = "index",
		.name = name,
		.blob = &blob,
		.condition =
			http->is_single_writer ? NULL : document->condition,
	};

	if (put.condition != NULL && put.condition[0] == '\0')
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its document 'index/%s' has no ETag", name);
	return tkb_http_put(http, call, &put, err);
}

/* Where `name` is "", the document is only made. */
static int edit(struct tkb_http *http, const struct tkb_op_limits *call,
                const char *document_name, const char *name, bool is_there,
                struct tkb_error *err)
{
	TKB_AUTO(document_release)
	struct document document = { .body = TKB_BUF_INIT(DOCUMENT_LIMIT) };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf changed = TKB_BUF_INIT(DOCUMENT_LIMIT);

	for (unsigned attempt = 0;; attempt++) {
		struct tkb_bytes body;
		int rc;

		rc = load(http, call, document_name, &document, err);
		if (rc < 0)
			return rc;
		body = tkb_buf_bytes(&document.body);
		tkb_buf_reset(&changed);
		if (change(body, name, is_there, &changed))
			body = tkb_buf_bytes(&changed);
		else if (!document.is_new || !is_there)
			return 0;
		rc = tkb_buf_check(&changed, err);
		if (rc == 0)
			rc = store(http, call, document_name, &document, body,
			           err);
		if (rc != TKB_MISS)
			return rc;
		pause_a_little(call, attempt);
	}
}

int tkb_http_note(struct tkb_http *http, const struct tkb_op_limits *call,
                  const char *folder, const char *name, bool is_there,
                  struct tkb_error *err)
{
	char document[TKB_HTTP_FOLDER_SIZE];

	if (http->way != TKB_HTTP_DOCUMENT)
		return 0;
	tkb_http_document(folder, strcmp(folder, "cas") == 0 ? name : NULL,
	                  document);
	return edit(http, call, document, name, is_there, err);
}

/* Put the scratch file; is the answer what it should be? TKB_MISS: no. */
static int try_put(struct tkb_http *http, const struct tkb_op_limits *call,
                   const char *name, const char *condition, bool must_work,
                   struct tkb_error *err)
{
	const struct tkb_bytes body = { must_work ? "1" : "0", 1 };
	const struct tkb_blob blob = { body.size, tkb_memory_source(&body) };
	int rc;

	rc = tkb_http_put(http, call,
	                  &(struct tkb_http_put){ .folder = "cas",
	                                          .name = name,
	                                          .blob = &blob,
	                                          .condition = condition },
	                  err);
	if (rc < 0)
		return rc == TKB_ERR_DENIED ? TKB_MISS : rc;
	return (rc == 0) == must_work ? 0 : TKB_MISS;
}

/* "If-Match: " and the scratch file's ETag. TKB_MISS: it has none. */
static int read_etag(struct tkb_http *http, const struct tkb_op_limits *call,
                     const char *name, char *out, size_t size,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_web_request request = { .method = "GET" };
	int rc;

	rc = tkb_http_url(http, &arena, "cas", name, &request.url, err);
	if (rc == 0)
		rc = tkb_http_ask(http, call, &request, err);
	if (rc != 0)
		return rc;
	(void)snprintf(out, size, "If-Match: %s", request.etag);
	return is_strong(request.etag) ? 0 : TKB_MISS;
}

int tkb_http_try_match(struct tkb_http *http, const struct tkb_op_limits *call,
                       const char *name, struct tkb_error *err)
{
	char condition[160];
	int rc;

	rc = try_put(http, call, name, "If-None-Match: *", true, err);
	if (rc == 0)
		rc = try_put(http, call, name, "If-None-Match: *", false, err);
	if (rc == 0)
		rc = try_put(http, call, name, "If-Match: \"none\"", false,
		             err);
	if (rc == 0)
		rc = read_etag(http, call, name, condition, sizeof(condition),
		               err);
	if (rc == 0)
		rc = try_put(http, call, name, condition, true, err);
	/* An ETag must change with the bytes, even within one second. */
	if (rc == 0)
		rc = try_put(http, call, name, condition, false, err);
	return rc;
}
