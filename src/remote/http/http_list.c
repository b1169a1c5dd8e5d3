/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"

/* How the files of a folder are found: see http.h. */

enum {
	SHARDS = 16,                     /* documents that folder "cas" has */
	LISTING_LIMIT = 8 * 1024 * 1024, /* of refs, and of a ref's records */
	CAS_LIMIT = 64 * 1024 * 1024,
	PATH_LIMIT = 8192
};

static const char propfind[] =
	"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
	"<D:propfind xmlns:D=\"DAV:\"><D:prop><D:resourcetype/>"
	"<D:getcontentlength/><D:getlastmodified/></D:prop></D:propfind>\n";

static const char *const dav_headers[] = { "Depth: 1",
	                                   "Content-Type: application/xml" };

/* One request for a listing. */
struct question {
	enum tkb_http_listing_mode way;
	const char *folder;
	size_t listing; /* where its answer goes */
	struct tkb_buf body;
	struct tkb_sink sink;
};

/* Several, asked at once. */
struct inquiry {
	struct tkb_arena arena;
	struct question *questions;       /* owned */
	struct tkb_web_request *requests; /* owned */
	size_t count;
	size_t capacity;
	struct tkb_bytes text; /* what PROPFIND sends */
	struct tkb_blob body;
};

static void inquiry_release(struct inquiry *inquiry)
{
	for (size_t i = 0; i < inquiry->count; i++)
		tkb_buf_release(&inquiry->questions[i].body);
	tkb_arena_release(&inquiry->arena);
	free(inquiry->questions);
	free(inquiry->requests);
}

static int inquiry_init(struct inquiry *inquiry, size_t capacity,
                        struct tkb_error *err)
{
	inquiry->questions =
		tkb_alloc_array(capacity, sizeof(*inquiry->questions));
	inquiry->requests =
		tkb_alloc_array(capacity, sizeof(*inquiry->requests));
	if (inquiry->questions == NULL || inquiry->requests == NULL)
		return tkb_fail_nomem(err);
	inquiry->capacity = capacity;
	inquiry->text = (struct tkb_bytes){ propfind, sizeof(propfind) - 1 };
	inquiry->body.size = inquiry->text.size;
	inquiry->body.source = tkb_memory_source(&inquiry->text);
	return 0;
}

/* `document` is one in "index", where that is the way. */
static int add_question(const struct tkb_http *http, struct inquiry *inquiry,
                        const struct question *question, const char *document,
                        struct tkb_error *err)
{
	const bool is_document = question->way == TKB_HTTP_DOCUMENT;
	struct question *added = &inquiry->questions[inquiry->count];
	struct tkb_web_request *request = &inquiry->requests[inquiry->count];

	*added = *question;
	added->body = (struct tkb_buf)TKB_BUF_INIT(
		!is_document && strcmp(question->folder, "cas") == 0
			? CAS_LIMIT
			: LISTING_LIMIT);
	added->sink = tkb_buf_sink(&added->body);
	*request = (struct tkb_web_request){ .method = "GET",
		                             .sink = &added->sink,
		                             .limit = added->body.limit };
	if (question->way == TKB_HTTP_DAV) {
		request->method = "PROPFIND";
		request->headers = dav_headers;
		request->header_count = TKB_COUNT_OF(dav_headers);
		request->body = &inquiry->body;
	}
	inquiry->count++;
	return tkb_http_url(http, &inquiry->arena,
	                    is_document ? "index" : question->folder,
	                    is_document ? document : NULL, &request->url, err);
}

/* All that must be asked to list a folder in the way that is known. */
static int add_folder(const struct tkb_http *http, struct inquiry *inquiry,
                      const char *folder, size_t listing, struct tkb_error *err)
{
	static const char digits[] = "0123456789abcdef";
	const struct question question = { .way = http->way,
		                           .folder = folder,
		                           .listing = listing };
	const bool is_split =
		http->way == TKB_HTTP_DOCUMENT && strcmp(folder, "cas") == 0;
	char document[TKB_HTTP_FOLDER_SIZE];
	int rc = 0;

	for (size_t i = 0; i < (is_split ? SHARDS : 1) && rc == 0; i++) {
		tkb_http_document(folder, is_split ? &digits[i] : NULL,
		                  document);
		rc = add_question(http, inquiry, &question, document, err);
	}
	return rc;
}

static int read_dav(const struct tkb_http *http,
                    const struct question *question,
                    struct tkb_http_listing *listing, struct tkb_error *err)
{
	const char *base = http->place->path;
	size_t size = strlen(base);
	char path[PATH_LIMIT];

	while (size != 0 && base[size - 1] == '/')
		size--;
	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)size, base,
	               question->folder);
	return tkb_http_read_dav(tkb_buf_bytes(&question->body), path, listing,
	                         err);
}

/*
 * Read an answer. TKB_MISS: there is no such folder; TKB_ERR_CORRUPT: it is no
 * listing.
 */
static int read_answer(const struct tkb_http *http,
                       const struct tkb_op_limits *call,
                       const struct question *question,
                       const struct tkb_web_request *request,
                       struct tkb_http_listing *listing, struct tkb_error *err)
{
	const struct tkb_bytes body = tkb_buf_bytes(&question->body);
	int rc;

	rc = tkb_web_judge(request, call, err);
	if (rc != 0)
		return rc;
	if (request->date_s > listing->now_s)
		listing->now_s = request->date_s;
	switch (question->way) {
	case TKB_HTTP_INDEX:
		return tkb_http_read_index(body, listing, err);
	case TKB_HTTP_DAV:
		if (request->status != 207)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "no answer of "
			                "WebDAV's");
		return read_dav(http, question, listing, err);
	default:
		return tkb_http_read_document(body, listing, err);
	}
}

static int list_known(struct tkb_http *http, const struct tkb_op_limits *call,
                      const char *const *folders, size_t count,
                      struct tkb_http_listing *listings, struct tkb_error *err)
{
	TKB_AUTO(inquiry_release) struct inquiry inquiry = { 0 };
	int rc;

	rc = inquiry_init(&inquiry, count * SHARDS, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_folder(http, &inquiry, folders[i], i, err);
	if (rc == 0)
		rc = tkb_web_do(http->web, call, inquiry.requests,
		                inquiry.count, err);
	for (size_t i = 0; i < inquiry.count && rc >= 0; i++) {
		const struct question *question = &inquiry.questions[i];

		rc = read_answer(http, call, question, &inquiry.requests[i],
		                 &listings[question->listing], err);
		tkb_buf_release(&inquiry.questions[i].body);
	}
	if (rc == TKB_ERR_CORRUPT)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its listing cannot be understood");
	return rc < 0 ? rc : 0;
}

static int fail_hidden(struct tkb_error *err, int status)
{
	return tkb_fail(err, status,
	                "it does not list what it has: give it a JSON index "
	                "(nginx: autoindex on; autoindex_format json;) or "
	                "WebDAV, or name another way by 'listing'");
}

/* Such an answer says that this is not the way; others say what is wrong. */
static bool is_no_way(const struct tkb_web_request *request, int rc)
{
	return request->rc == 0 &&
	       (rc == TKB_ERR_CORRUPT || request->status == 403 ||
	        request->status == 405 || request->status == 406);
}

/* The first of several ways that works. What PROPFIND breaks is no news. */
static int choose(struct tkb_http *http, const struct tkb_op_limits *call,
                  const struct inquiry *inquiry,
                  struct tkb_http_listing *listing, bool *is_hidden,
                  struct tkb_error *err)
{
	int status = TKB_ERR_DENIED;

	for (size_t i = 0; i < inquiry->count; i++) {
		const struct question *question = &inquiry->questions[i];
		const struct tkb_web_request *request = &inquiry->requests[i];
		struct tkb_http_listing read = { 0 };
		struct tkb_error fault = { 0 };
		int rc;

		rc = read_answer(http, call, question, request, &read, &fault);
		if (rc == 0) {
			http->way = question->way;
			*listing = read;
			return 0;
		}
		tkb_http_listing_release(&read);
		if (is_no_way(request, rc)) {
			*is_hidden |= question->way == TKB_HTTP_INDEX;
			if (rc == TKB_ERR_CORRUPT &&
			    question->way == TKB_HTTP_INDEX)
				status = TKB_ERR_UNAVAILABLE;
		} else if (rc < 0 && question->way != TKB_HTTP_DAV) {
			if (err != NULL)
				*err = fault;
			return rc;
		}
	}
	return *is_hidden ? fail_hidden(err, status) : TKB_MISS;
}

int tkb_http_probe(struct tkb_http *http, const struct tkb_op_limits *call,
                   const char *folder, struct tkb_http_listing *listing,
                   bool *is_hidden, struct tkb_error *err)
{
	static const enum tkb_http_listing_mode ways[] = { TKB_HTTP_INDEX,
		                                           TKB_HTTP_DAV,
		                                           TKB_HTTP_DOCUMENT };
	TKB_AUTO(inquiry_release) struct inquiry inquiry = { 0 };
	int rc;

	rc = inquiry_init(&inquiry, TKB_COUNT_OF(ways), err);
	for (size_t i = 0; i < TKB_COUNT_OF(ways) && rc == 0; i++) {
		const struct question question = { .way = ways[i],
			                           .folder = folder };

		rc = add_question(http, &inquiry, &question, "ref", err);
	}
	if (rc == 0)
		rc = tkb_web_do(http->web, call, inquiry.requests,
		                inquiry.count, err);
	return rc == 0 ? choose(http, call, &inquiry, listing, is_hidden, err)
	               : rc;
}

int tkb_http_list(struct tkb_http *http, const struct tkb_op_limits *call,
                  const char *const *folders, size_t count,
                  struct tkb_http_listing *listings, struct tkb_error *err)
{
	bool is_hidden = false;
	int rc;

	if (count != 0 && http->way == TKB_HTTP_UNKNOWN) {
		rc = tkb_http_probe(http, call, folders[0], listings,
		                    &is_hidden, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (http->way != TKB_HTTP_DOCUMENT) {
			folders++;
			listings++;
			count--;
		} else {
			tkb_http_listing_release(listings);
		}
	}
	if (http->way == TKB_HTTP_NONE)
		return fail_hidden(err, TKB_ERR_DENIED);
	return list_known(http, call, folders, count, listings, err);
}
