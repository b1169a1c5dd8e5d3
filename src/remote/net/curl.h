/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_CURL_H
#define TKB_REMOTE_NET_CURL_H

/*
 * libcurl, as HTTP and Redis use it: its handles for TKB_AUTO, TLS as a URL's
 * parameters choose it, and what libcurl's failures mean.
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

/* On failure the list stays as it was. */
TKB_NODISCARD int tkb_curl_slist_add(struct curl_slist **list, const char *text,
                                     struct tkb_error *err);

/* An option of the handle; the first failure sticks in `*code`. */
#define tkb_curl_set(code, curl, option, value)                                \
	((code) == CURLE_OK                                                    \
	         ? (void)((code) = curl_easy_setopt(curl, option, value))      \
	         : (void)0)

/*
 * May it be used by several threads? Without this the first curl_easy_init() of
 * two threads is a race. Returns 0 or TKB_ERR_UNSUPPORTED.
 */
TKB_NODISCARD int tkb_curl_check_threads(struct tkb_error *err);

/*
 * Apply the URL's parameters for TLS. Another server than the URL's gets no
 * certificate.
 */
void tkb_curl_set_tls(CURL *curl, const struct tkb_remote_url *url,
                      bool shows_certificate, CURLcode *code);

/*
 * What it means that a connection failed with `code`. `fault` is what libcurl
 * wrote into its error buffer. Returns a failure, or 0 where `code` is not about
 * the connection.
 */
int tkb_curl_explain(CURL *curl, const struct tkb_remote_url *url,
                     const char *fault, CURLcode code, struct tkb_error *err);

#endif
