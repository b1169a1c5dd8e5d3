/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/random.h"
#include "remote/http/http.h"

/* Finding the listing mode before a write, by trial: see http.h. */

static bool has_name(const struct tkb_http_listing *listing, const char *name)
{
	for (size_t i = 0; i < listing->count; i++) {
		if (strcmp(listing->files[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Folder "cas" now has a scratch file: find the mode that lists it. */
static int probe_again(struct tkb_http *http,
                       const struct tkb_op_limits *limits, const char *name,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	bool is_hidden = false;
	int rc;

	rc = tkb_http_probe(http, limits, "cas", &listing, &is_hidden, err);
	if (rc == 0 && http->mode != TKB_HTTP_DOCUMENT &&
	    !has_name(&listing, name))
		http->mode = TKB_HTTP_UNKNOWN;
	return rc < 0 && !is_hidden ? rc : 0;
}

static int try_documents(struct tkb_http *http,
                         const struct tkb_op_limits *limits, const char *name,
                         struct tkb_error *err)
{
	int rc = 0;

	if (!http->is_single_writer)
		rc = tkb_http_test_match(http, limits, name, err);
	if (rc < 0)
		return rc;
	http->is_tried = rc == 0;
	if (rc == 0)
		http->mode = TKB_HTTP_DOCUMENT;
	else if (http->mode == TKB_HTTP_UNKNOWN)
		http->mode = TKB_HTTP_NONE;
	/* The new document tells the next reader the mode. */
	return rc == 0 ? tkb_http_edit_index(http, limits, "ref", "", true, err)
	               : 0;
}

/* Test the modes with a scratch file, whose name is not a digest. */
static int try_modes(struct tkb_http *http, const struct tkb_op_limits *limits,
                     const char *name, struct tkb_error *err)
{
	const struct tkb_bytes body = { "", 0 };
	const struct tkb_blob blob = { 0, tkb_memory_source(&body) };
	int rc = 0;

	if (http->mode == TKB_HTTP_UNKNOWN) {
		rc = tkb_http_put(http, limits,
		                  &(struct tkb_http_put){ .folder = "cas",
		                                          .name = name,
		                                          .blob = &blob },
		                  err);
		if (rc == 0)
			rc = probe_again(http, limits, name, err);
		if (rc == 0)
			rc = tkb_http_delete(http, limits, "cas", name, err);
	}
	if (rc >= 0 && (http->mode == TKB_HTTP_UNKNOWN ||
	                http->mode == TKB_HTTP_DOCUMENT)) {
		rc = try_documents(http, limits, name, err);
		if (rc == 0 && !http->is_single_writer)
			rc = tkb_http_delete(http, limits, "cas", name, err);
	}
	return rc < 0 ? rc : 0;
}

int tkb_http_find_mode(struct tkb_http *http,
                       const struct tkb_op_limits *limits,
                       struct tkb_error *err)
{
	bool is_hidden = false;
	TKB_AUTO(tkb_http_listing_release)
	struct tkb_http_listing listing = { 0 };
	char name[32] = "scratch-";
	int rc = 0;

	if (http->mode == TKB_HTTP_UNKNOWN)
		rc = tkb_http_probe(http, limits, "cas", &listing, &is_hidden,
		                    err);
	if (rc < 0 && !is_hidden)
		return rc;
	if (http->mode == TKB_HTTP_UNKNOWN ||
	    (http->mode == TKB_HTTP_DOCUMENT && !http->is_tried)) {
		rc = tkb_random_name(name + strlen(name), err);
		if (rc == 0)
			rc = try_modes(http, limits, name, err);
		if (rc < 0)
			return rc;
	}
	if (http->mode != TKB_HTTP_NONE &&
	    (http->mode != TKB_HTTP_DOCUMENT || http->is_tried))
		return 0;
	return tkb_fail(err, TKB_ERR_DENIED,
	                "it can only be read: it neither lists its files nor "
	                "honours If-Match: give it a JSON index (nginx: "
	                "autoindex on; autoindex_format json;) or WebDAV, "
	                "or, where nobody else writes, add 'single-writer=1'");
}
