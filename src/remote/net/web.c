/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/web.h"

#include <stdlib.h>

#include "remote/net/web_slot.h"

enum {
	CONNECTIONS_LIMIT = 64
};

static void close_at(struct tkb_web **web)
{
	tkb_web_close(*web);
}

static int prepare_multi(struct tkb_web *web, struct tkb_error *err)
{
	const long limit = web->options.connections;

	/* The first handle initialises libcurl. */
	web->slots[0].curl = curl_easy_init();
	web->multi = curl_multi_init();
	if (web->slots[0].curl == NULL || web->multi == NULL)
		return tkb_fail_nomem(err);
	if (curl_multi_setopt(web->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
	                      limit) != CURLM_OK ||
	    curl_multi_setopt(web->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
	                      limit) != CURLM_OK ||
	    curl_multi_setopt(web->multi, CURLMOPT_MAXCONNECTS, limit) !=
	            CURLM_OK)
		return tkb_fail_nomem(err);
	return 0;
}

int tkb_web_open(const struct tkb_web_options *options, struct tkb_web **out,
                 struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_web *web = tkb_alloc_array(1, sizeof(*web));
	int rc;

	if (web == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_curl_check_threads(err);
	if (rc < 0)
		return rc;
	web->options = *options;
	if (web->options.connections == 0)
		web->options.connections = TKB_WEB_CONNECTIONS;
	if (web->options.connections > CONNECTIONS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "at most %d connections can be had at once",
		                CONNECTIONS_LIMIT);
	web->slot_count = (size_t)web->options.connections * TKB_WEB_STREAMS;
	web->slots = tkb_alloc_array(web->slot_count, sizeof(*web->slots));
	if (web->slots == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < web->slot_count; i++)
		web->slots[i].options = &web->options;
	rc = prepare_multi(web, err);
	if (rc == 0)
		*out = tkb_take(web);
	return rc;
}

void tkb_web_close(struct tkb_web *web)
{
	if (web == NULL)
		return;
	for (size_t i = 0; web->slots != NULL && i < web->slot_count; i++)
		tkb_web_slot_release(&web->slots[i]);
	if (web->multi != NULL)
		(void)curl_multi_cleanup(web->multi);
	free(web->slots);
	free(web);
}

/* Clear what the answer fills in. */
static void clear(struct tkb_web_request *request)
{
	request->rc = 0;
	request->error = (struct tkb_error){ 0 };
	request->status = 0;
	request->length = UINT64_MAX;
	request->etag[0] = '\0';
	request->date_s = 0;
	request->modified_s = 0;
	request->retry_after_ms = 0;
	request->content_type[0] = '\0';
	request->wanted_value[0] = '\0';
}

int tkb_web_do(struct tkb_web *web, const struct tkb_op_limits *limits,
               struct tkb_web_request *requests, size_t count,
               struct tkb_error *err)
{
	for (size_t i = 0; i < count; i++)
		clear(&requests[i]);
	return tkb_web_run(web, limits, requests, count, err);
}
