/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_CURL_HANDLES_H
#define TKB_REMOTE_NET_CURL_HANDLES_H

/* libcurl's handles, for TKB_AUTO. NULL is released. */

#include <curl/curl.h>

#include "base/base.h"

static inline void tkb_curl_easy_cleanup_at(CURL **curl)
{
	curl_easy_cleanup(*curl);
	*curl = NULL;
}

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
TKB_NODISCARD static inline int tkb_curl_slist_add(struct curl_slist **list,
                                                   const char *text,
                                                   struct tkb_error *err)
{
	struct curl_slist *longer = curl_slist_append(*list, text);

	if (longer == NULL)
		return tkb_fail_nomem(err);
	*list = longer;
	return 0;
}

#endif
