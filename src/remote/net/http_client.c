/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/http_client.h"

#include <stdlib.h>

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
