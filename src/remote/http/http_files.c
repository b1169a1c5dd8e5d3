/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/http/http.h"
#include "remote/net/escape.h"

enum {
	URL_LIMIT = 16 * 1024
};

void tkb_http_listing_release(struct tkb_http_listing *listing)
{
	tkb_arena_release(&listing->arena);
	free(listing->files);
	*listing = (struct tkb_http_listing){ 0 };
}

int tkb_http_listing_add(struct tkb_http_listing *listing,
                         struct tkb_bytes name,
                         const struct tkb_http_file *file,
                         struct tkb_error *err)
{
	struct tkb_http_file added = *file;

	if (tkb_arena_copy(&listing->arena, name, &added.name, err) < 0)
		return TKB_ERR_NOMEM;
	return tkb_append(&listing->files, &listing->count, &listing->capacity,
	                  &added, sizeof(added), err);
}

bool tkb_http_is_ours(const struct tkb_http_file *file)
{
	struct tkb_digest digest;

	return !file->is_folder &&
	       tkb_digest_from_hex(tkb_text(file->name), &digest);
}

void tkb_http_ref_folder(const char *ref, char out[TKB_HTTP_FOLDER_SIZE])
{
	const int size = snprintf(out, TKB_HTTP_FOLDER_SIZE, "ref/");

	tkb_ref_to_folder(ref, out + size, TKB_HTTP_FOLDER_SIZE - (size_t)size);
}

int tkb_http_url(const struct tkb_http *http, struct tkb_arena *arena,
                 const char *folder, const char *name, const char **out,
                 struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf url = TKB_BUF_INIT(URL_LIMIT);

	tkb_print(&url, "%s/", http->base);
	tkb_escape(&url, folder, "/");
	if (folder[0] != '\0')
		tkb_buf_add_byte(&url, '/');
	if (name != NULL)
		tkb_escape(&url, name, "/");
	return tkb_arena_copy_buf(arena, &url, out, err);
}

int tkb_http_ask(struct tkb_http *http, const struct tkb_op_limits *limits,
                 const char *folder, const char *name,
                 struct tkb_http_request *request, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	int rc;

	rc = tkb_http_url(http, &arena, folder, name, &request->url, err);
	if (rc == 0)
		rc = tkb_http_client_do(http->client, limits, request, 1, err);
	return rc == 0 ? tkb_http_request_judge(request, limits, err) : rc;
}

/* Make all folders on the path to `folder`. */
static int make_folders(struct tkb_http *http,
                        const struct tkb_op_limits *limits, const char *folder,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const char *url = NULL;
	const char *at;
	int rc;

	rc = tkb_http_url(http, &arena, folder, NULL, &url, err);
	if (rc < 0)
		return rc;
	at = strchr(strstr(url, "://") + 3, '/');
	for (at = strchr(at + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
		const struct tkb_bytes part = { url, (size_t)(at + 1 - url) };
		struct tkb_http_request request = { .method = "MKCOL" };

		rc = tkb_arena_copy(&arena, part, &request.url, err);
		/*
		 * An existing folder is refused; the next PUT shows whether it
		 * worked.
		 */
		if (rc == 0)
			rc = tkb_http_client_do(http->client, limits, &request,
			                        1, err);
		if (rc == 0 && request.rc < 0)
			rc = tkb_http_request_judge(&request, limits, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* WebDAV answers 409 to a PUT into a missing folder, nginx 500. */
static bool may_lack_folder(const struct tkb_http *http,
                            const struct tkb_http_request *request)
{
	const bool may_be_dav =
		http->mode == TKB_HTTP_DAV || http->mode == TKB_HTTP_UNKNOWN;

	return request->rc == 0 && (request->status == 409 ||
	                            (request->status == 500 && may_be_dav));
}

static int judge_put(const struct tkb_http_request *request,
                     const struct tkb_op_limits *limits, struct tkb_error *err)
{
	if (request->rc == 0 && request->status == 412)
		return TKB_MISS;
	if (request->rc == 0 &&
	    (request->status == 405 || request->status == 501))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it can only be read: it takes no PUT "
		                "(HTTP %ld)",
		                request->status);
	if (request->rc == 0 &&
	    (request->status == 404 || request->status == 410))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it has no place for a PUT: HTTP %ld",
		                request->status);
	if (request->rc == 0 && request->status == 413)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it takes no body so large (nginx: "
		                "client_max_body_size): HTTP 413");
	return tkb_http_request_judge(request, limits, err);
}

int tkb_http_put(struct tkb_http *http, const struct tkb_op_limits *limits,
                 const struct tkb_http_put *put, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_http_request request = {
		.method = "PUT",
		.headers = &put->condition,
		.header_count = put->condition != NULL,
		.body = put->blob,
	};
	int rc;

	rc = tkb_http_url(http, &arena, put->folder, put->name, &request.url,
	                  err);
	if (rc == 0)
		rc = tkb_http_client_do(http->client, limits, &request, 1, err);
	if (rc == 0 && may_lack_folder(http, &request)) {
		rc = make_folders(http, limits, put->folder, err);
		if (rc == 0)
			rc = tkb_http_client_do(http->client, limits, &request,
			                        1, err);
	}
	return rc == 0 ? judge_put(&request, limits, err) : rc;
}

int tkb_http_delete(struct tkb_http *http, const struct tkb_op_limits *limits,
                    const char *folder, const char *name, struct tkb_error *err)
{
	struct tkb_http_request request = { .method = "DELETE" };

	return tkb_http_ask(http, limits, folder, name, &request, err);
}
