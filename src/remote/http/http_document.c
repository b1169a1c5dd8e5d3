/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"
#include "remote/net/escape.h"
#include "remote/net/limits.h"

/*
 * Documents: the line "tkbundle index 1", then one name per line. A document is
 * replaced only under If-Match. If another writer was faster, the edit is
 * repeated on the new document.
 */

enum {
	DOCUMENT_LIMIT = 8 * 1024 * 1024,
	PAUSE_LIMIT_MS = 50,
	LINE_SIZE = 256
};

#define FIRST_LINE "tkbundle index 1\n"

void tkb_http_document(const char *folder, const char *hex,
                       char out[TKB_HTTP_FOLDER_SIZE])
{
	char name[TKB_HTTP_FOLDER_SIZE];

	(void)snprintf(name, sizeof(name), "%s%s%.1s", folder,
	               hex != NULL ? "/" : "", hex != NULL ? hex : "");
	tkb_ref_to_folder(name, out, TKB_HTTP_FOLDER_SIZE);
}

static bool is_document(struct tkb_bytes body)
{
	const size_t size = strlen(FIRST_LINE);

	return body.size >= size && memcmp(body.data, FIRST_LINE, size) == 0 &&
	       ((const char *)body.data)[body.size - 1] == '\n';
}

static int fail_document(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "not a tkbundle document");
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

/* Where line `name` begins, or the document's size. */
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

/* Add or remove a line. Returns false if nothing changes. */
static bool edit_lines(struct tkb_bytes old, const char *name, bool is_there,
                       struct tkb_buf *out)
{
	const size_t at = find_line(old, name);

	if (name[0] == '\0' || (at < old.size) == is_there)
		return false;
	tkb_buf_add(out, tkb_bytes_slice(old, 0, at));
	if (is_there)
		tkb_print(out, "%s\n", name);
	else
		tkb_buf_add(out, tkb_bytes_slice(old, at + strlen(name) + 1,
		                                 old.size));
	return true;
}

/* A document, and the condition under which it is replaced. */
struct document {
	struct tkb_buf body;
	char condition[TKB_HTTP_CONDITION_SIZE]; /* a header; "": none */
	bool is_new;
};

static void document_release(struct document *document)
{
	tkb_buf_release(&document->body);
}

static int load_document(struct tkb_http *http,
                         const struct tkb_op_limits *limits, const char *name,
                         struct document *document, struct tkb_error *err)
{
	const struct tkb_sink sink = tkb_buf_sink(&document->body);
	struct tkb_http_request request = { .method = "GET",
		                            .sink = &sink,
		                            .limit = DOCUMENT_LIMIT };
	int rc;

	tkb_buf_reset(&document->body);
	document->condition[0] = '\0';
	rc = tkb_http_ask(http, limits, "index", name, &request, err);
	document->is_new = rc == TKB_MISS;
	if (rc == TKB_MISS) {
		tkb_buf_add_text(&document->body, FIRST_LINE);
		(void)snprintf(document->condition, sizeof(document->condition),
		               "If-None-Match: *");
		return tkb_buf_check(&document->body, err);
	}
	if (rc == 0 && !is_document(tkb_buf_bytes(&document->body)))
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its document 'index/%s' is not tkbundle's",
		                name);
	if (rc == 0)
		(void)tkb_http_if_match(request.etag, document->condition);
	return rc;
}

/* Pause for a random time, so that two writers do not collide again. */
static void pause_after_collision(const struct tkb_op_limits *limits,
                                  unsigned attempt)
{
	const struct timespec nap = {
		.tv_nsec = (long)tkb_random_pause_ns(
			attempt < 5 ? 2u << attempt : PAUSE_LIMIT_MS),
	};

	if (tkb_now_ns() + (uint64_t)nap.tv_nsec < limits->deadline_ns)
		(void)nanosleep(&nap, NULL);
}

static int store_document(struct tkb_http *http,
                          const struct tkb_op_limits *limits, const char *name,
                          const struct document *document,
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
	return tkb_http_put(http, limits, &put, err);
}

/* With the name "", only make sure that the document exists. */
static int edit_document(struct tkb_http *http,
                         const struct tkb_op_limits *limits,
                         const char *document_name, const char *name,
                         bool is_there, struct tkb_error *err)
{
	TKB_AUTO(document_release)
	struct document document = { .body = TKB_BUF_INIT(DOCUMENT_LIMIT) };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf changed = TKB_BUF_INIT(DOCUMENT_LIMIT);

	for (unsigned attempt = 0;; attempt++) {
		struct tkb_bytes body;
		int rc;

		rc = load_document(http, limits, document_name, &document, err);
		if (rc < 0)
			return rc;
		body = tkb_buf_bytes(&document.body);
		tkb_buf_reset(&changed);
		if (edit_lines(body, name, is_there, &changed))
			body = tkb_buf_bytes(&changed);
		else if (!document.is_new || !is_there)
			return 0;
		rc = tkb_buf_check(&changed, err);
		if (rc == 0)
			rc = store_document(http, limits, document_name,
			                    &document, body, err);
		if (rc != TKB_MISS)
			return rc;
		pause_after_collision(limits, attempt);
	}
}

int tkb_http_edit_index(struct tkb_http *http,
                        const struct tkb_op_limits *limits, const char *folder,
                        const char *name, bool is_there, struct tkb_error *err)
{
	char document[TKB_HTTP_FOLDER_SIZE];

	if (http->mode != TKB_HTTP_DOCUMENT)
		return 0;
	tkb_http_document(folder, strcmp(folder, "cas") == 0 ? name : NULL,
	                  document);
	return edit_document(http, limits, document, name, is_there, err);
}

/*
 * Put the scratch file, with a body of one byte. TKB_MISS: the answer is not the
 * expected one.
 */
static int try_put(struct tkb_http *http, const struct tkb_op_limits *limits,
                   const char *name, const char *condition, const char *byte,
                   bool must_work, struct tkb_error *err)
{
	const struct tkb_bytes body = { byte, 1 };
	const struct tkb_blob blob = { body.size, tkb_memory_source(&body) };
	int rc;

	rc = tkb_http_put(http, limits,
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
static int read_etag(struct tkb_http *http, const struct tkb_op_limits *limits,
                     const char *name, char out[TKB_HTTP_CONDITION_SIZE],
                     struct tkb_error *err)
{
	struct tkb_http_request request = { .method = "GET" };
	const int rc = tkb_http_ask(http, limits, "cas", name, &request, err);

	if (rc != 0)
		return rc;
	return tkb_http_if_match(request.etag, out) ? 0 : TKB_MISS;
}

int tkb_http_test_match(struct tkb_http *http,
                        const struct tkb_op_limits *limits, const char *name,
                        struct tkb_error *err)
{
	char condition[TKB_HTTP_CONDITION_SIZE];
	int rc;

	rc = try_put(http, limits, name, "If-None-Match: *", "1", true, err);
	if (rc == 0)
		rc = try_put(http, limits, name, "If-None-Match: *", "0", false,
		             err);
	if (rc == 0)
		rc = try_put(http, limits, name, "If-Match: \"none\"", "0",
		             false, err);
	if (rc == 0)
		rc = read_etag(http, limits, name, condition, err);
	if (rc == 0)
		rc = try_put(http, limits, name, condition, "2", true, err);
	/* An ETag must change with the bytes, even within one second. */
	if (rc == 0)
		rc = try_put(http, limits, name, condition, "0", false, err);
	return rc;
}
