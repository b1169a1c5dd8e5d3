/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/net/http_slot.h"

enum {
	URL_LIMIT = 16 * 1024
};

/* curl_easy_setopt() wants a long for a numeric option. */
static const long yes = 1;

void tkb_http_slot_release(struct tkb_http_slot *slot)
{
	curl_easy_cleanup(tkb_take(slot->curl));
	tkb_curl_slist_free_at(&slot->headers);
	tkb_curl_slist_free_at(&slot->connect_to);
	free(tkb_take(slot->url));
}

static void set_protocol(struct tkb_http_slot *slot,
                         const struct tkb_op_limits *limits, CURLcode *code)
{
	CURL *curl = slot->curl;

	tkb_curl_set(*code, curl, CURLOPT_URL, slot->url);
	tkb_curl_set(*code, curl, CURLOPT_PATH_AS_IS, yes);
	tkb_curl_set(*code, curl, CURLOPT_USERAGENT, "tkbundle");
	tkb_curl_set(*code, curl, CURLOPT_PROTOCOLS_STR, "http,https");
	if (slot->options->is_direct)
		tkb_curl_set(*code, curl, CURLOPT_PROXY, "");
	/* Wait for a connection of HTTP/2, which all requests can share. */
	if (slot->shares_connection)
		tkb_curl_set(*code, curl, CURLOPT_PIPEWAIT, yes);
	tkb_curl_set(*code, curl, CURLOPT_CONNECTTIMEOUT_MS,
	             (long)limits->connect_ms);
	tkb_curl_set(*code, curl, CURLOPT_TCP_KEEPALIVE, yes);
}

static void set_secrets(struct tkb_http_slot *slot, CURLcode *code)
{
	const struct tkb_http_client_options *options = slot->options;
	CURL *curl = slot->curl;

	if (slot->is_other_server)
		return;
	if (options->has_netrc)
		tkb_curl_set(*code, curl, CURLOPT_NETRC,
		             (long)CURL_NETRC_OPTIONAL);
	if (options->netrc_file != NULL)
		tkb_curl_set(*code, curl, CURLOPT_NETRC_FILE,
		             options->netrc_file);
	tkb_curl_set(*code, curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	if (options->user != NULL)
		tkb_curl_set(*code, curl, CURLOPT_USERNAME, options->user);
	if (options->password != NULL)
		tkb_curl_set(*code, curl, CURLOPT_PASSWORD, options->password);
	if (options->bearer != NULL) {
		tkb_curl_set(*code, curl, CURLOPT_HTTPAUTH,
		             (long)CURLAUTH_BEARER);
		tkb_curl_set(*code, curl, CURLOPT_XOAUTH2_BEARER,
		             options->bearer);
	}
}

static void set_method(struct tkb_http_slot *slot, CURLcode *code)
{
	const struct tkb_http_request *request = slot->request;
	CURL *curl = slot->curl;
	char range[32];

	if (strcmp(request->method, "HEAD") == 0) {
		tkb_curl_set(*code, curl, CURLOPT_NOBODY, yes);
	} else if (strcmp(request->method, "GET") != 0) {
		tkb_curl_set(*code, curl, CURLOPT_CUSTOMREQUEST,
		             request->method);
	}
	if (request->body != NULL) {
		tkb_curl_set(*code, curl, CURLOPT_UPLOAD, yes);
		tkb_curl_set(*code, curl, CURLOPT_INFILESIZE_LARGE,
		             (curl_off_t)request->body->size);
	}
	if (request->offset == 0)
		return;
	(void)snprintf(range, sizeof(range), "%llu-",
	               (unsigned long long)request->offset);
	tkb_curl_set(*code, curl, CURLOPT_RANGE, range);
}

/* The caller's headers may be secrets: send them only to its own server. */
static int make_headers(struct tkb_http_slot *slot, struct tkb_error *err)
{
	const struct tkb_http_client_options *options = slot->options;
	const struct tkb_http_request *request = slot->request;
	int rc;

	/*
	 * Without this libcurl waits a second for "100 Continue" before a large
	 * body.
	 */
	rc = tkb_curl_slist_add(&slot->headers, "Expect:", err);
	if (slot->is_other_server)
		return rc;
	for (size_t i = 0; i < options->header_count && rc == 0; i++)
		rc = tkb_curl_slist_add(&slot->headers, options->headers[i],
		                        err);
	for (size_t i = 0; i < request->header_count && rc == 0; i++)
		rc = tkb_curl_slist_add(&slot->headers, request->headers[i],
		                        err);
	return rc;
}

/*
 * The certificate is checked against another name. So the URL gets that name,
 * but the connection is made to the original host, which the header Host also
 * names.
 */
static int rename_server(struct tkb_http_slot *slot, const char *url,
                         const char *name, struct tkb_error *err)
{
	const char *host = strstr(url, "://") + 3;
	const char *end = host + strcspn(host, "/?");
	const char *bracket = memchr(host, ']', (size_t)(end - host));
	const char *from = bracket != NULL ? bracket : host;
	const char *colon = memchr(from, ':', (size_t)(end - from));
	const char *host_end = colon != NULL ? colon : end;
	const bool is_ipv6 = strchr(name, ':') != NULL;
	char line[1024];
	char renamed[URL_LIMIT];
	int rc;

	(void)snprintf(line, sizeof(line), "Host: %.*s", (int)(end - host),
	               host);
	rc = tkb_curl_slist_add(&slot->headers, line, err);
	(void)snprintf(line, sizeof(line), "::%.*s:", (int)(host_end - host),
	               host);
	if (rc == 0)
		rc = tkb_curl_slist_add(&slot->connect_to, line, err);
	if (rc < 0)
		return rc;
	if (snprintf(renamed, sizeof(renamed), "%.*s%s%s%s%s",
	             (int)(host - url), url, is_ipv6 ? "[" : "", name,
	             is_ipv6 ? "]" : "", host_end) >= (int)sizeof(renamed))
		return tkb_fail(err, TKB_ERR_INVALID, "the URL is too long");
	slot->url = strdup(renamed);
	return slot->url == NULL ? tkb_fail_nomem(err) : 0;
}

static int set_url(struct tkb_http_slot *slot, const char *url,
                   struct tkb_error *err)
{
	const char *name =
		tkb_remote_url_param(slot->options->url, "server-name");

	if (name != NULL && !slot->is_other_server &&
	    tkb_begins_with(url, "https://"))
		return rename_server(slot, url, name, err);
	slot->url = strdup(url);
	return slot->url == NULL ? tkb_fail_nomem(err) : 0;
}

int tkb_http_slot_prepare(struct tkb_http_slot *slot, const char *url,
                          const struct tkb_op_limits *limits,
                          struct tkb_error *err)
{
	CURLcode code = CURLE_OK;
	int rc;

	/*
	 * Use a new handle: one that has shared a connection keeps its buffer
	 * size.
	 */
	tkb_http_slot_release(slot);
	slot->curl = curl_easy_init();
	if (slot->curl == NULL)
		return tkb_fail_nomem(err);
	slot->is_answered = false;
	slot->is_enough = false;
	slot->sent = 0;
	slot->got = 0;
	slot->header_size = 0;
	slot->rc = 0;
	slot->fault[0] = '\0';
	rc = make_headers(slot, err);
	if (rc == 0)
		rc = set_url(slot, url, err);
	if (rc < 0)
		return rc;
	tkb_http_slot_set_callbacks(slot, &code);
	set_protocol(slot, limits, &code);
	tkb_curl_set_tls(slot->curl, slot->options->url, !slot->is_other_server,
	                 &code);
	set_secrets(slot, &code);
	set_method(slot, &code);
	tkb_curl_set(code, slot->curl, CURLOPT_HTTPHEADER, slot->headers);
	if (slot->connect_to != NULL)
		tkb_curl_set(code, slot->curl, CURLOPT_CONNECT_TO,
		             slot->connect_to);
	return code == CURLE_OK ? 0 : tkb_http_slot_explain(slot, code, err);
}
