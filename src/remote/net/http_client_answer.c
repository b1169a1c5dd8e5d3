/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote/net/grant.h"
#include "remote/net/http_client.h"
#include "remote/net/http_slot.h"

enum {
	RETRY_LIMIT_S = 3600
};

static int refuse_answer(struct tkb_error *err, int status, const char *what)
{
	return tkb_fail(err, status, "%s", what);
}

int tkb_http_slot_explain(const struct tkb_http_slot *slot, CURLcode code,
                          struct tkb_error *err)
{
	int rc;

	rc = tkb_curl_explain(slot->curl, slot->options->url, slot->fault, code,
	                      err);
	if (rc < 0)
		return rc;
	switch (code) {
	case CURLE_UNSUPPORTED_PROTOCOL:
		if (slot->is_moving)
			return refuse_answer(err, TKB_ERR_UNAVAILABLE,
			                     "its answer is not HTTP");
		return refuse_answer(err, TKB_ERR_INVALID,
		                     "its URL makes no sense");
	case CURLE_COULDNT_RESOLVE_PROXY:
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "its proxy's name is not known");
	case CURLE_READ_ERROR: /* our own read failures are in slot->rc */
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the netrc file '%s' cannot be understood",
		                slot->options->netrc_file != NULL
		                        ? slot->options->netrc_file
		                        : "~/.netrc");
	case CURLE_SEND_FAIL_REWIND:
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "it closed the connection");
	case CURLE_PARTIAL_FILE:
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "its answer ended too early");
	default:
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its answer is not HTTP: %s",
		                curl_easy_strerror(code));
	}
}

/* Copy a header's value; one that does not fit is ignored. */
static void copy_header(CURL *curl, const char *name, char *out, size_t size)
{
	struct curl_header *header = NULL;

	if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) ==
	            CURLHE_OK &&
	    strlen(header->value) < size)
		memcpy(out, header->value, strlen(header->value) + 1);
}

static int join_header(CURL *curl, struct tkb_http_header *out,
                       struct tkb_error *err)
{
	struct curl_header *header = NULL;
	size_t used = 0;

	for (size_t i = 0; curl_easy_header(curl, out->name, i, CURLH_HEADER,
	                                    -1, &header) == CURLHE_OK;
	     i++) {
		const size_t size = strlen(header->value);

		if (used + size + 3 > out->size) {
			out->value[0] = '\0';
			return tkb_fail(err, TKB_ERR_UNAVAILABLE,
			                "its header '%s' has more than %zu "
			                "bytes",
			                out->name, out->size - 3);
		}
		if (i > 0) {
			memcpy(out->value + used, ", ", 2);
			used += 2;
		}
		memcpy(out->value + used, header->value, size + 1);
		used += size;
	}
	return 0;
}

/* An absent header says something, too: so one that does not fit is a failure. */
static int join_wanted_headers(const struct tkb_http_slot *slot,
                               struct tkb_error *err)
{
	const struct tkb_http_request *request = slot->request;
	int rc = 0;

	for (size_t i = 0; i < request->wanted_count && rc == 0; i++)
		rc = join_header(slot->curl, &request->wanted[i], err);
	if (rc == 0 && request->status == 401 && request->challenge != NULL)
		rc = join_header(slot->curl, request->challenge, err);
	return rc;
}

int64_t tkb_http_date_parse(const char *text)
{
	const time_t time = text[0] != '\0' ? curl_getdate(text, NULL) : 0;

	return time > 0 ? time : 0;
}

bool tkb_http_if_match(const char *etag, char out[TKB_HTTP_CONDITION_SIZE])
{
	const bool is_strong = etag[0] == '"' && strlen(etag) >= 2;

	out[0] = '\0';
	if (is_strong)
		(void)snprintf(out, TKB_HTTP_CONDITION_SIZE, "If-Match: %s",
		               etag);
	return is_strong;
}

static int64_t read_date(CURL *curl, const char *name)
{
	char text[64] = "";

	copy_header(curl, name, text, sizeof(text));
	return tkb_http_date_parse(text);
}

static void fill_in(struct tkb_http_slot *slot)
{
	struct tkb_http_request *request = slot->request;
	CURL *curl = slot->curl;
	curl_off_t number = -1;

	(void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &request->status);
	(void)curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
	                        &number);
	request->length = number < 0 ? UINT64_MAX : (uint64_t)number;
	number = 0;
	(void)curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &number);
	if (number > RETRY_LIMIT_S)
		number = RETRY_LIMIT_S;
	request->retry_after_ms = number > 0 ? (uint32_t)number * 1000 : 0;
	copy_header(curl, "ETag", request->etag, sizeof(request->etag));
	request->date_s = read_date(curl, "Date");
	request->modified_s = read_date(curl, "Last-Modified");
}

/* Scheme, host and port: these identify a server. */
struct origin {
	char *scheme; /* owned, like the others */
	char *host;
	char *port;
};

static void origin_release(struct origin *origin)
{
	tkb_curl_free_at(&origin->scheme);
	tkb_curl_free_at(&origin->host);
	tkb_curl_free_at(&origin->port);
}

static bool read_origin(const char *url, struct origin *out)
{
	TKB_AUTO(tkb_curl_url_cleanup_at) CURLU *parts = curl_url();

	return parts != NULL &&
	       curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
	       curl_url_get(parts, CURLUPART_SCHEME, &out->scheme, 0) ==
	               CURLUE_OK &&
	       curl_url_get(parts, CURLUPART_HOST, &out->host, 0) ==
	               CURLUE_OK &&
	       curl_url_get(parts, CURLUPART_PORT, &out->port,
	                    CURLU_DEFAULT_PORT) == CURLUE_OK;
}

static bool is_same_origin(const struct origin *a, const char *url)
{
	TKB_AUTO(origin_release) struct origin b = { NULL, NULL, NULL };

	return read_origin(url, &b) && strcmp(a->scheme, b.scheme) == 0 &&
	       strcasecmp(a->host, b.host) == 0 && strcmp(a->port, b.port) == 0;
}

/* The length of "https://host:port". */
static size_t server_size(const char *url)
{
	const size_t start = (size_t)(strstr(url, "://") + 3 - url);

	return start + strcspn(url + start, "/?#");
}

int tkb_http_url_resolve(const char *base, const char *reference,
                         struct tkb_buf *out, bool *is_same_out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_curl_url_cleanup_at) CURLU *parts = curl_url();
	TKB_AUTO(tkb_curl_free_at) char *url = NULL;
	TKB_AUTO(origin_release) struct origin origin = { NULL, NULL, NULL };

	if (parts == NULL)
		return tkb_fail_nomem(err);
	if (curl_url_set(parts, CURLUPART_URL, base, 0) != CURLUE_OK ||
	    curl_url_set(parts, CURLUPART_URL, reference, 0) != CURLUE_OK ||
	    curl_url_get(parts, CURLUPART_URL, &url, 0) != CURLUE_OK ||
	    !read_origin(url, &origin) ||
	    (strcmp(origin.scheme, "http") != 0 &&
	     strcmp(origin.scheme, "https") != 0))
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "it names something that is not an HTTP "
		                     "URL");
	if (tkb_begins_with(base, "https:") &&
	    strcmp(origin.scheme, "https") != 0)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it leads from https to %s", origin.scheme);
	*is_same_out = is_same_origin(&origin, base);
	tkb_buf_reset(out);
	tkb_buf_add_text(out, url);
	tkb_buf_add_byte(out, '\0');
	return tkb_buf_check(out, err);
}

static bool is_reading(const struct tkb_http_request *request)
{
	return strcmp(request->method, "GET") == 0 ||
	       strcmp(request->method, "HEAD") == 0 ||
	       strcmp(request->method, "PROPFIND") == 0;
}

/* A redirect to another server gets neither secrets nor uploads. */
static int go_to_other_server(struct tkb_http_slot *slot,
                              const struct origin *origin)
{
	const struct tkb_http_request *request = slot->request;
	const bool reads = strcmp(request->method, "GET") == 0 ||
	                   strcmp(request->method, "HEAD") == 0;

	if (tkb_begins_with(slot->url, "https:") &&
	    strcmp(origin->scheme, "https") != 0)
		return tkb_fail(&slot->request->error, TKB_ERR_DENIED,
		                "it redirects from https to %s",
		                origin->scheme);
	if (!reads)
		return tkb_fail(&slot->request->error, TKB_ERR_DENIED,
		                "it redirects to '%s://%s:%s', which gets no "
		                "%s of ours",
		                origin->scheme, origin->host, origin->port,
		                request->method);
	slot->is_other_server = true;
	return 0;
}

/*
 * A copy of where the answer leads. With the parameter server-name, libcurl
 * knows the server by that name: name it as the request does.
 */
static char *copy_location(const struct tkb_http_slot *slot,
                           const char *location)
{
	const char *own = slot->request->url;
	TKB_AUTO(origin_release) struct origin origin = { NULL, NULL, NULL };
	TKB_AUTO(tkb_buf_release) struct tkb_buf url = TKB_BUF_INIT(SIZE_MAX);

	if (slot->connect_to == NULL || !read_origin(location, &origin) ||
	    !is_same_origin(&origin, slot->url))
		return strdup(location);
	tkb_buf_add(&url, (struct tkb_bytes){ own, server_size(own) });
	tkb_buf_add_text(&url, location + server_size(location));
	tkb_buf_add_byte(&url, '\0');
	return tkb_buf_check(&url, NULL) < 0 ? NULL
	                                     : (char *)tkb_take(url.data);
}

/* Follow a redirect. TKB_MISS: the slot is ready to send there. */
static int follow_redirect(struct tkb_http_slot *slot, const char *location,
                           const struct tkb_op_limits *limits)
{
	TKB_AUTO(tkb_free_at) char *url = copy_location(slot, location);
	TKB_AUTO(origin_release) struct origin origin = { NULL, NULL, NULL };
	struct tkb_error *err = &slot->request->error;
	int rc = 0;

	if (url == NULL)
		return tkb_fail_nomem(err);
	if (!read_origin(url, &origin) || (strcmp(origin.scheme, "http") != 0 &&
	                                   strcmp(origin.scheme, "https") != 0))
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "it redirects to something that is not "
		                     "HTTP");
	/* 303 names what is to be read instead, as the page of a login. */
	if (slot->request->status == 303 && !is_reading(slot->request))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it answers a %s with a page to be read: HTTP "
		                "303",
		                slot->request->method);
	if (++slot->redirects > TKB_HTTP_REDIRECTS)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it redirects more than %d times",
		                TKB_HTTP_REDIRECTS);
	if (!is_same_origin(&origin, slot->url) &&
	    !is_same_origin(&origin, slot->request->url))
		rc = go_to_other_server(slot, &origin);
	if (rc == 0 && slot->request->refusal != NULL)
		tkb_buf_reset(slot->request->refusal);
	if (rc == 0)
		rc = tkb_http_slot_prepare(slot, url, limits, err);
	return rc == 0 ? TKB_MISS : rc;
}

static bool is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 ||
	       status == 307 || status == 308;
}

/*
 * Does the server have no bytes from the offset on? docker-registry then answers
 * with the blob's length as Content-Length, but sends no such body.
 */
static bool is_behind_end(const struct tkb_http_slot *slot)
{
	long status = 0;

	(void)curl_easy_getinfo(slot->curl, CURLINFO_RESPONSE_CODE, &status);
	return status == 416 && slot->request->offset != 0;
}

int tkb_http_slot_finish(struct tkb_http_slot *slot, CURLcode code,
                         const struct tkb_op_limits *limits)
{
	struct tkb_http_request *request = slot->request;
	const char *location = NULL;
	struct tkb_error fault = { 0 };
	int rc;

	request->rc = slot->rc;
	if (slot->rc == 0 && code != CURLE_OK && !slot->is_enough &&
	    !is_behind_end(slot))
		request->rc =
			tkb_http_slot_explain(slot, code, &request->error);
	else if (slot->rc == 0 && !slot->is_answered)
		request->rc = tkb_http_slot_explain(slot, CURLE_PARTIAL_FILE,
		                                    &request->error);
	if (request->rc < 0)
		return request->rc;
	fill_in(slot);
	rc = join_wanted_headers(slot, &fault);
	(void)curl_easy_getinfo(slot->curl, CURLINFO_REDIRECT_URL, &location);
	if (is_redirect(request->status) && location != NULL)
		request->rc = follow_redirect(slot, location, limits);
	else if (rc < 0)
		request->rc = tkb_fail_as(&request->error, rc, &fault);
	return request->rc;
}

static int judge_status(const struct tkb_http_request *request,
                        struct tkb_error *err)
{
	const long status = request->status;

	if (status / 100 == 2 || (status == 416 && request->offset != 0))
		return 0;
	if (status == 404 || status == 410)
		return TKB_MISS;
	if (status == 401 || status == 407)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "%s wants other credentials: HTTP %ld",
		                status == 401 ? "it" : "its proxy", status);
	if (status == 403)
		return refuse_answer(
			err, TKB_ERR_DENIED,
			is_reading(request)
				? "it forbids this: HTTP 403: grant the right "
				  "to read there"
				: "it forbids this: HTTP "
				  "403: " TKB_REMOTE_GRANT);
	if (status == 507)
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "it is full: HTTP 507: make room there, "
		                     "or use another remote");
	if (status == 429)
		return refuse_answer(err, TKB_ERR_UNAVAILABLE,
		                     "it is asked too often: HTTP 429");
	if (status / 100 == 3)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it redirects to nowhere: HTTP %ld", status);
	if (status / 100 == 4 && status != 408 && status != 425)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it does not do this %s: HTTP %ld",
		                request->method, status);
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "it failed: HTTP %ld",
	                status);
}

int tkb_http_request_judge(const struct tkb_http_request *request,
                           const struct tkb_op_limits *limits,
                           struct tkb_error *err)
{
	int rc;

	if (request->rc < 0)
		return tkb_fail_as(err, request->rc, &request->error);
	rc = judge_status(request, err);
	if (rc == TKB_ERR_UNAVAILABLE && limits->retry_after_ms != NULL)
		*limits->retry_after_ms = request->retry_after_ms;
	return rc;
}

bool tkb_http_request_fails_alone(const struct tkb_http_request *request,
                                  const struct tkb_http_request *requests,
                                  size_t count,
                                  const struct tkb_op_limits *limits)
{
	if (!limits->is_last_attempt || request->rc < 0 ||
	    request->status / 100 != 5)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (requests[i].rc >= 0 && requests[i].status / 100 == 2)
			return true;
	}
	return false;
}
