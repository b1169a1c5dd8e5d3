/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/http_client.h"

#include <stdlib.h>
#include <string.h>

#include "remote/net/http_slot.h"

enum {
	CONNECTIONS_LIMIT = 64
};

TKB_AUTO_POINTER(close_at, struct tkb_http_client, tkb_http_client_close)

static int prepare_multi(struct tkb_http_client *client, struct tkb_error *err)
{
	const long limit = client->options.connections;

	/* The first handle initialises libcurl. */
	client->slots[0].curl = curl_easy_init();
	client->multi = curl_multi_init();
	if (client->slots[0].curl == NULL || client->multi == NULL)
		return tkb_fail_nomem(err);
	if (curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
	                      limit) != CURLM_OK ||
	    curl_multi_setopt(client->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
	                      limit) != CURLM_OK ||
	    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, limit) !=
	            CURLM_OK)
		return tkb_fail_nomem(err);
	return 0;
}

int tkb_http_client_open(const struct tkb_http_client_options *options,
                         struct tkb_http_client **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_http_client *client = tkb_alloc_array(1, sizeof(*client));
	int rc;

	if (client == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_curl_check_threads(err);
	if (rc < 0)
		return rc;
	client->options = *options;
	if (client->options.connections == 0)
		client->options.connections = TKB_HTTP_CLIENT_CONNECTIONS;
	if (client->options.connections > CONNECTIONS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "at most %d connections can be had at once",
		                CONNECTIONS_LIMIT);
	client->slot_count =
		(size_t)client->options.connections * TKB_HTTP_STREAMS;
	client->slots =
		tkb_alloc_array(client->slot_count, sizeof(*client->slots));
	if (client->slots == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < client->slot_count; i++)
		client->slots[i].options = &client->options;
	rc = prepare_multi(client, err);
	if (rc == 0)
		*out = tkb_take(client);
	return rc;
}

void tkb_http_client_close(struct tkb_http_client *client)
{
	if (client == NULL)
		return;
	for (size_t i = 0; client->slots != NULL && i < client->slot_count; i++)
		tkb_http_slot_release(&client->slots[i]);
	if (client->multi != NULL)
		(void)curl_multi_cleanup(client->multi);
	free(client->slots);
	free(client);
}

int tkb_http_ask_apart(const struct tkb_remote_url *url, bool is_direct,
                       const struct tkb_op_limits *limits,
                       struct tkb_http_request *request, struct tkb_error *err)
{
	struct tkb_param params[2];
	struct tkb_remote_url plain = *url;
	const struct tkb_http_client_options options = {
		.url = &plain, .connections = 1, .is_direct = is_direct
	};
	TKB_AUTO(close_at) struct tkb_http_client *client = NULL;
	int rc;

	plain.params = params;
	plain.param_count = 0;
	for (size_t i = 0; i < url->param_count; i++) {
		const struct tkb_param *param = &url->params[i];

		if (plain.param_count < TKB_COUNT_OF(params) &&
		    (strcmp(param->name, "cafile") == 0 ||
		     strcmp(param->name, "verify") == 0))
			params[plain.param_count++] = *param;
	}
	rc = tkb_http_client_open(&options, &client, err);
	if (rc == 0)
		rc = tkb_http_client_do(client, limits, request, 1, err);
	return rc == 0 ? tkb_http_request_judge(request, limits, err) : rc;
}
