/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blob_buffer.h"
#include "remote/http/http.h"

/* Listing folders: see http.h. */

enum {
	SHARDS = 16,                     /* number of documents of folder
	                                    "cas" */
	LISTING_LIMIT = 8 * 1024 * 1024, /* bytes of a listing of refs or
	                                    records */
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
struct listing_item {
	enum tkb_http_listing_mode mode;
	const char *folder;
	size_t listing; /* index of the listing to add the answer to */
	struct tkb_buf body;
	struct tkb_sink sink;
};

/* Requests for listings, sent together. */
struct batch {
	struct tkb_arena arena;
	struct listing_item *items;        /* owned */
	struct tkb_http_request *requests; /* owned */
	size_t count;
	struct tkb_bytes text; /* the body of PROPFIND */
	struct tkb_blob body;
};

static void batch_release(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		tkb_buf_release(&batch->items[i].body);
	tkb_arena_release(&batch->arena);
	free(batch->items);
	free(batch->requests);
}

static int batch_init(struct batch *batch, size_t capacity,
                      struct tkb_error *err)
{
	batch->items = tkb_alloc_array(capacity, sizeof(*batch->items));
	batch->requests = tkb_alloc_array(capacity, sizeof(*batch->requests));
	if (batch->items == NULL || batch->requests == NULL)
		return tkb_fail_nomem(err);
	batch->text = (struct tkb_bytes){ propfind, sizeof(propfind) - 1 };
	batch->body.size = batch->text.size;
	batch->body.source = tkb_memory_source(&batch->text);
	return 0;
}

/* `document` is the name in "index", for TKB_HTTP_DOCUMENT. */
static int add_request(const struct tkb_http *http, struct batch *batch,
                       const struct listing_item *item, const char *document,
                       struct tkb_error *err)
{
	const bool is_document = item->mode == TKB_HTTP_DOCUMENT;
	struct listing_item *added = &batch->items[batch->count];
	struct tkb_http_request *request = &batch->requests[batch->count];

	*added = *item;
	added->body = (struct tkb_buf)TKB_BUF_INIT(
		!is_document && strcmp(item->folder, "cas") == 0
			? CAS_LIMIT
			: LISTING_LIMIT);
	added->sink = tkb_buf_sink(&added->body);
	*request = (struct tkb_http_request){ .method = "GET",
		                              .sink = &added->sink,
		                              .limit = added->body.limit };
	if (item->mode == TKB_HTTP_DAV) {
		request->method = "PROPFIND";
		request->headers = dav_headers;
		request->header_count = TKB_COUNT_OF(dav_headers);
		request->body = &batch->body;
	}
	batch->count++;
	return tkb_http_url(http, &batch->arena,
	                    is_document ? "index" : item->folder,
	                    is_document ? document : NULL, &request->url, err);
}

/* Add the requests that list a folder in the known mode. */
static int add_folder_requests(const struct tkb_http *http, struct batch *batch,
                               const char *folder, size_t listing,
                               struct tkb_error *err)
{
	static const char digits[] = "0123456789abcdef";
	const struct listing_item item = { .mode = http->mode,
		                           .folder = folder,
		                           .listing = listing };
	const bool is_split =
		http->mode == TKB_HTTP_DOCUMENT && strcmp(folder, "cas") == 0;
	char document[TKB_HTTP_FOLDER_SIZE];
	int rc = 0;

	for (size_t i = 0; i < (is_split ? SHARDS : 1) && rc == 0; i++) {
		tkb_http_document(folder, is_split ? &digits[i] : NULL,
		                  document);
		rc = add_request(http, batch, &item, document, err);
	}
	return rc;
}

static int read_dav(const struct tkb_http *http,
                    const struct listing_item *item,
                    struct tkb_http_listing *listing, struct tkb_error *err)
{
	const char *base = http->url->path;
	size_t size = strlen(base);
	char path[PATH_LIMIT];

	while (size != 0 && base[size - 1] == '/')
		size--;
	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)size, base,
	               item->folder);
	return tkb_http_read_dav(tkb_buf_bytes(&item->body), path, listing,
	                         err);
}

/*
 * Read an answer. TKB_MISS: there is no such folder; TKB_ERR_CORRUPT: it is not
 * a listing.
 */
static int read_listing_answer(const struct tkb_http *http,
                               const struct tkb_op_limits *limits,
                               const struct listing_item *item,
                               const struct tkb_http_request *request,
                               struct tkb_http_listing *listing,
                               struct tkb_error *err)
{
	const struct tkb_bytes body = tkb_buf_bytes(&item->body);
	int rc;

	rc = tkb_http_request_judge(request, limits, err);
	if (rc != 0)
		return rc;
	if (request->date_s > listing->now_s)
		listing->now_s = request->date_s;
	switch (item->mode) {
	case TKB_HTTP_INDEX:
		return tkb_http_read_index(body, listing, err);
	case TKB_HTTP_DAV:
		if (request->status != 207)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "not an answer of WebDAV's");
		return read_dav(http, item, listing, err);
	default:
		return tkb_http_read_document(body, listing, err);
	}
}

static int list_known(struct tkb_http *http, const struct tkb_op_limits *limits,
                      const char *const *folders, size_t count,
                      struct tkb_http_listing *listings, struct tkb_error *err)
{
	TKB_AUTO(batch_release) struct batch batch = { 0 };
	int rc;

	rc = batch_init(&batch, count * SHARDS, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_folder_requests(http, &batch, folders[i], i, err);
	if (rc == 0)
		rc = tkb_http_client_do(http->client, limits, batch.requests,
		                        batch.count, err);
	for (size_t i = 0; i < batch.count && rc >= 0; i++) {
		const struct listing_item *item = &batch.items[i];

		rc = read_listing_answer(http, limits, item, &batch.requests[i],
		                         &listings[item->listing], err);
		tkb_buf_release(&batch.items[i].body);
	}
	if (rc == TKB_ERR_CORRUPT)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its listing cannot be understood");
	return rc < 0 ? rc : 0;
}

static int fail_hidden(struct tkb_error *err, int status)
{
	return tkb_fail(err, status,
	                "it does not list its files: give it a JSON index "
	                "(nginx: autoindex on; autoindex_format json;) or "
	                "WebDAV, or choose another mode by 'listing'; if it "
	                "has one, the right to read it is missing");
}

/*
 * Does the answer mean that the server lacks this mode? Any other bad answer is
 * a failure.
 */
static bool rules_out_mode(const struct tkb_http_request *request, int rc)
{
	return request->rc == 0 &&
	       (rc == TKB_ERR_CORRUPT || request->status == 403 ||
	        request->status == 405 || request->status == 406);
}

/*
 * Choose the first mode that works. A server may fail on PROPFIND in any way.
 */
static int choose_mode(struct tkb_http *http,
                       const struct tkb_op_limits *limits,
                       const struct batch *batch,
                       struct tkb_http_listing *listing, bool *is_hidden,
                       struct tkb_error *err)
{
	int status = TKB_ERR_DENIED;

	for (size_t i = 0; i < batch->count; i++) {
		const struct listing_item *item = &batch->items[i];
		const struct tkb_http_request *request = &batch->requests[i];
		struct tkb_http_listing read = { 0 };
		struct tkb_error fault = { 0 };
		int rc;

		rc = read_listing_answer(http, limits, item, request, &read,
		                         &fault);
		if (rc == 0) {
			http->mode = item->mode;
			*listing = read;
			return 0;
		}
		tkb_http_listing_release(&read);
		if (rules_out_mode(request, rc)) {
			*is_hidden |= item->mode == TKB_HTTP_INDEX;
			if (rc == TKB_ERR_CORRUPT &&
			    item->mode == TKB_HTTP_INDEX)
				status = TKB_ERR_UNAVAILABLE;
		} else if (rc < 0 && item->mode != TKB_HTTP_DAV) {
			return tkb_fail_as(err, rc, &fault);
		}
	}
	return *is_hidden ? fail_hidden(err, status) : TKB_MISS;
}

int tkb_http_probe(struct tkb_http *http, const struct tkb_op_limits *limits,
                   const char *folder, struct tkb_http_listing *listing,
                   bool *is_hidden, struct tkb_error *err)
{
	static const enum tkb_http_listing_mode modes[] = { TKB_HTTP_INDEX,
		                                            TKB_HTTP_DAV,
		                                            TKB_HTTP_DOCUMENT };
	TKB_AUTO(batch_release) struct batch batch = { 0 };
	int rc;

	rc = batch_init(&batch, TKB_COUNT_OF(modes), err);
	for (size_t i = 0; i < TKB_COUNT_OF(modes) && rc == 0; i++) {
		const struct listing_item item = { .mode = modes[i],
			                           .folder = folder };

		rc = add_request(http, &batch, &item, "ref", err);
	}
	if (rc == 0)
		rc = tkb_http_client_do(http->client, limits, batch.requests,
		                        batch.count, err);
	return rc == 0 ? choose_mode(http, limits, &batch, listing, is_hidden,
	                             err)
	               : rc;
}

int tkb_http_list(struct tkb_http *http, const struct tkb_op_limits *limits,
                  const char *const *folders, size_t count,
                  struct tkb_http_listing *listings, struct tkb_error *err)
{
	bool is_hidden = false;
	int rc;

	if (count != 0 && http->mode == TKB_HTTP_UNKNOWN) {
		rc = tkb_http_probe(http, limits, folders[0], listings,
		                    &is_hidden, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		if (http->mode != TKB_HTTP_DOCUMENT) {
			folders++;
			listings++;
			count--;
		} else {
			tkb_http_listing_release(listings);
		}
	}
	if (http->mode == TKB_HTTP_NONE)
		return fail_hidden(err, TKB_ERR_DENIED);
	return list_known(http, limits, folders, count, listings, err);
}
