/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_CURL_H
#define TKB_REMOTE_NET_CURL_H

/*
 * Shared use of libcurl for HTTP and Redis: handles for TKB_AUTO, TLS as chosen
 * by the URL's parameters, and the meaning of libcurl's failures.
 */

#include <curl/curl.h>

#include <tkbundle/remote_backend.h>

#include "base/base.h"

static inline void tkb_curl_slist_free_at(struct curl_slist **list)
{
	curl_slist_free_all(*list);
	*list = NULL;
}

static inline void tkb_curl_url_cleanup_at(CURLU **url)
{
	curl_url_cleanup(*url);
	*url = NULL;
}

static inline void tkb_curl_free_at(char **text)
{
	curl_free(*text);
	*text = NULL;
}

/* Append a copy of a text. On failure the list is unchanged. */
TKB_NODISCARD int tkb_curl_slist_add(struct curl_slist **list, const char *text,
                                     struct tkb_error *err);

/* Set an option of the handle; the first failure stays in `*code`. */
#define tkb_curl_set(code, curl, option, value)                                \
	((code) == CURLE_OK                                                    \
	         ? (void)((code) = curl_easy_setopt(curl, option, value))      \
	         : (void)0)

/*
 * Check that libcurl is thread-safe: otherwise the first curl_easy_init() of
 * two threads would race. Returns 0 or TKB_ERR_UNSUPPORTED.
 */
TKB_NODISCARD int tkb_curl_check_threads(struct tkb_error *err);

/*
 * Apply the URL's TLS parameters. Only the URL's own server is shown our
 * certificate.
 */
void tkb_curl_set_tls(CURL *curl, const struct tkb_remote_url *url,
                      bool shows_certificate, CURLcode *code);

/*
 * Explain why a connection failed with `code`. `fault` is the text in libcurl's
 * error buffer. Returns a failure, or 0 if `code` is not about the connection.
 */
int tkb_curl_explain(CURL *curl, const struct tkb_remote_url *url,
                     const char *fault, CURLcode code, struct tkb_error *err);

#endif
