/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "remote/net/limits.h"
#include "remote/net/http_client.h"
#include "remote/net/http_slot.h"

/* Running several requests at once, within the limits. */

enum {
	TICK_MS = 50 /* pause between checks of the limits */
};

/* The state of one tkb_http_client_do(). */
struct run {
	struct tkb_http_client *client;
	const struct tkb_op_limits *limits;
	struct tkb_http_request *requests;
	size_t count;
	size_t next; /* first request that is not begun */
	const struct tkb_http_request
		*connect_failure; /* a request that failed to connect */
	bool is_answered;         /* by our own server */
};

static bool has_http_2(const struct tkb_http_client *client)
{
	return client->version >= CURL_HTTP_VERSION_2_0;
}

/*
 * How many requests may run at once: over HTTP/2 several share a connection. A
 * request that waits for a connection must not be given to libcurl: 8.x counts
 * the time as a part of connect-timeout. So under TLS the first request runs
 * alone, and its answer tells the version.
 */
static size_t window(const struct run *run)
{
	const struct tkb_http_client *client = run->client;

	if (has_http_2(client))
		return client->slot_count;
	return client->version == 0 &&
	                       tkb_begins_with(run->requests[run->next].url,
	                                       "https:")
	               ? 1
	               : client->options.connections;
}

/* Without an answer, take an unknown server for one of HTTP/1.1. */
static void note_version(struct tkb_http_client *client,
                         const struct tkb_http_slot *slot)
{
	long *known = slot->is_other_server ? &client->other_version
	                                    : &client->version;
	long version = 0;

	(void)curl_easy_getinfo(slot->curl, CURLINFO_HTTP_VERSION, &version);
	if (version != 0)
		*known = version;
	else if (*known == 0)
		*known = CURL_HTTP_VERSION_1_1;
}

static void drop_transfer(struct tkb_http_client *client,
                          struct tkb_http_slot *slot)
{
	(void)curl_multi_remove_handle(client->multi, slot->curl);
	slot->request = NULL;
	client->active_count--;
}

static void drop_all(struct tkb_http_client *client)
{
	for (size_t i = 0; i < client->slot_count; i++) {
		if (client->slots[i].request != NULL)
			drop_transfer(client, &client->slots[i]);
	}
}

/* End a transfer early. */
static void end_slot(struct tkb_http_client *client, struct tkb_http_slot *slot,
                     const struct tkb_error *why)
{
	struct tkb_http_request *request = slot->request;

	note_version(client, slot);
	drop_transfer(client, slot);
	request->rc = why->status;
	request->error = *why;
}

/*
 * Is there a connection for each request that runs, at another server if this one
 * does? Those of HTTP/2 to our own, of which more run than there are connections,
 * share one.
 */
static bool has_connections(const struct tkb_http_client *client,
                            bool is_other_server)
{
	size_t here = 0;
	size_t there = 0;

	for (size_t i = 0; i < client->slot_count; i++) {
		const struct tkb_http_slot *slot = &client->slots[i];

		if (slot->request == NULL || slot->is_waiting)
			continue;
		if (slot->is_other_server)
			there++;
		else
			here++;
	}
	if (!is_other_server)
		return has_http_2(client) ||
		       here <= client->options.connections;
	return client->other_version >= CURL_HTTP_VERSION_2_0 ||
	       (here != 0) + there <= client->options.connections;
}

static int add_transfer(struct run *run, struct tkb_http_slot *slot,
                        struct tkb_error *err)
{
	slot->is_moving = false;
	slot->is_waiting = false;
	slot->is_waiting = !has_connections(run->client, slot->is_other_server);
	if (!slot->is_waiting &&
	    curl_multi_add_handle(run->client->multi, slot->curl) != CURLM_OK) {
		slot->request = NULL;
		return tkb_fail_nomem(err);
	}
	run->client->active_count++;
	return 0;
}

static int start_transfer(struct run *run, struct tkb_http_slot *slot,
                          struct tkb_error *err)
{
	struct tkb_http_request *request = &run->requests[run->next++];
	int rc;

	slot->request = request;
	slot->redirects = 0;
	slot->is_other_server = false;
	slot->has_waited = false;
	slot->shares_connection = has_http_2(run->client);
	rc = tkb_http_slot_prepare(slot, request->url, run->limits,
	                           &request->error);
	if (rc == 0)
		return add_transfer(run, slot, err);
	slot->request = NULL;
	request->rc = rc;
	return rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
}

static int start_some(struct run *run, struct tkb_error *err)
{
	struct tkb_http_client *client = run->client;

	for (size_t i = 0; i < client->slot_count && run->next < run->count;
	     i++) {
		int rc;

		if (client->slots[i].request != NULL)
			continue;
		if (client->active_count >= window(run))
			return 0;
		rc = start_transfer(run, &client->slots[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Add the transfers that wait, as far as there are connections. */
static int add_waiting(struct run *run, struct tkb_error *err)
{
	struct tkb_http_client *client = run->client;
	int rc = 0;

	for (size_t i = 0; i < client->slot_count && rc == 0; i++) {
		struct tkb_http_slot *slot = &client->slots[i];

		if (slot->request == NULL || !slot->is_waiting)
			continue;
		client->active_count--;
		rc = add_transfer(run, slot, err);
		if (slot->is_waiting)
			break;
	}
	return rc;
}

static size_t count_waiting(const struct tkb_http_client *client)
{
	size_t count = 0;

	for (size_t i = 0; i < client->slot_count; i++)
		count += client->slots[i].request != NULL &&
		         client->slots[i].is_waiting;
	return count;
}

/*
 * End the requests that run, or, without `ends_moving`, only those that are not
 * connected yet, and fail those not begun.
 */
static void end_requests(struct run *run, bool ends_moving,
                         const struct tkb_error *why)
{
	for (size_t i = 0; i < run->client->slot_count; i++) {
		struct tkb_http_slot *slot = &run->client->slots[i];

		if (slot->request != NULL && (ends_moving || !slot->is_moving))
			end_slot(run->client, slot, why);
	}
	for (; run->next < run->count; run->next++) {
		run->requests[run->next].rc = why->status;
		run->requests[run->next].error = *why;
	}
}

/*
 * How many requests have a connection to our own server? If all that had one have
 * ended just now, one connection is free: a request may wait for it once.
 */
static size_t count_moving(const struct run *run, struct tkb_http_slot *failed)
{
	const struct tkb_http_client *client = run->client;
	size_t count = 0;

	for (size_t i = 0; i < client->slot_count; i++) {
		const struct tkb_http_slot *slot = &client->slots[i];

		count += slot->request != NULL && slot->is_moving &&
		         !slot->is_other_server;
	}
	if (count != 0 || !run->is_answered || failed->has_waited)
		return count;
	failed->has_waited = true;
	return 1;
}

/* A server may refuse further connections: wait for one of those that it took. */
static int wait_for_connection(struct run *run, struct tkb_http_slot *slot,
                               size_t moving, struct tkb_error *err)
{
	struct tkb_http_request *request = slot->request;

	run->client->options.connections = (uint32_t)moving;
	request->error = (struct tkb_error){ 0 };
	request->rc = tkb_http_slot_prepare(slot, request->url, run->limits,
	                                    &request->error);
	if (request->rc == 0)
		return add_transfer(run, slot, err);
	slot->request = NULL;
	return request->rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
}

static int finish_transfer(struct run *run, struct tkb_http_slot *slot,
                           CURLcode code, struct tkb_error *err)
{
	struct tkb_http_request *request = slot->request;
	size_t moving = 0;
	int rc;

	(void)curl_multi_remove_handle(run->client->multi, slot->curl);
	run->client->active_count--;
	note_version(run->client, slot);
	rc = tkb_http_slot_finish(slot, code, run->limits);
	if (rc == TKB_MISS)
		return add_transfer(run, slot, err);
	if (rc >= 0 && !slot->is_other_server)
		run->is_answered = true;
	if (rc == TKB_ERR_UNAVAILABLE && !slot->is_moving &&
	    !slot->is_other_server && !has_http_2(run->client))
		moving = count_moving(run, slot);
	if (moving != 0)
		return wait_for_connection(run, slot, moving, err);
	slot->request = NULL;
	if (rc < 0 && !slot->is_moving && !slot->is_other_server)
		run->connect_failure = request;
	return rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
}

static struct tkb_http_slot *slot_of(struct tkb_http_client *client,
                                     const CURL *curl)
{
	size_t i = 0;

	while (client->slots[i].curl != curl)
		i++;
	return &client->slots[i];
}

static int finish_some(struct run *run, struct tkb_error *err)
{
	int left = 0;

	for (;;) {
		const CURLMsg *message =
			curl_multi_info_read(run->client->multi, &left);
		int rc;

		if (message == NULL)
			break;
		if (message->msg != CURLMSG_DONE)
			continue;
		rc = finish_transfer(run,
		                     slot_of(run->client, message->easy_handle),
		                     message->data.result, err);
		if (rc < 0)
			return rc;
	}
	if (run->connect_failure != NULL)
		end_requests(run, false, &run->connect_failure->error);
	return 0;
}

/*
 * On a slow connection, bytes that libcurl has written may stay in the socket
 * for long. If the socket's queue shrinks, the connection has not stalled.
 */
static void check_socket(struct tkb_http_slot *slot, uint64_t now)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	int unsent = 0;

	if (slot->request->body == NULL ||
	    curl_easy_getinfo(slot->curl, CURLINFO_ACTIVESOCKET, &fd) !=
	            CURLE_OK ||
	    fd == CURL_SOCKET_BAD || ioctl(fd, SIOCOUTQ, &unsent) < 0)
		return;
	if (unsent != slot->unsent)
		slot->moved_ns = now;
	slot->unsent = unsent;
}

static void end_stalled(struct run *run, uint64_t now)
{
	const struct tkb_op_limits *limits = run->limits;
	struct tkb_error why = { 0 };

	(void)tkb_op_limits_fail_stalled(limits, &why);
	for (size_t i = 0; i < run->client->slot_count; i++) {
		struct tkb_http_slot *slot = &run->client->slots[i];

		if (slot->request == NULL || !slot->is_moving)
			continue;
		check_socket(slot, now);
		if (tkb_op_limits_has_stalled(limits, slot->moved_ns))
			end_slot(run->client, slot, &why);
	}
}

static int check_limits(struct run *run, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	const int rc = tkb_op_limits_check(run->limits, &why);

	if (rc == TKB_ERR_CANCELLED)
		return tkb_fail(err, rc, "%s", why.message);
	if (rc < 0)
		end_requests(run, true, &why);
	else
		end_stalled(run, tkb_now_ns());
	return 0;
}

/* Wait until something moves, or it is time to check the limits. */
static int wait_a_tick(const struct run *run, struct tkb_error *err)
{
	const CURLMcode code = curl_multi_poll(
		run->client->multi, NULL, 0,
		tkb_op_limits_wait_ms(run->limits, TICK_MS), NULL);

	if (code == CURLM_OK)
		return 0;
	return tkb_fail(err, TKB_ERR_NOMEM, "libcurl cannot wait: %s",
	                curl_multi_strerror(code));
}

static int do_all(struct run *run, struct tkb_error *err)
{
	uint64_t looked_ns = 0;
	int running = 0;

	for (;;) {
		const uint64_t now = tkb_now_ns();
		size_t before;
		int rc = 0;

		if (now - looked_ns >= TICK_MS * TKB_NS_PER_MS ||
		    now >= run->limits->deadline_ns) {
			looked_ns = now;
			rc = check_limits(run, err);
		}
		if (rc == 0)
			rc = add_waiting(run, err);
		if (rc == 0)
			rc = start_some(run, err);
		if (rc < 0 || run->client->active_count == 0)
			return rc;
		before = run->client->active_count;
		if (curl_multi_perform(run->client->multi, &running) !=
		    CURLM_OK)
			return tkb_fail_nomem(err);
		rc = finish_some(run, err);
		/* If a request has ended, there is room for the next. */
		if (rc == 0 && run->client->active_count == before &&
		    before == (size_t)running + count_waiting(run->client))
			rc = wait_a_tick(run, err);
		if (rc < 0)
			return rc;
	}
}

/* Clear the members that the answer fills in. */
static void clear(struct tkb_http_request *request)
{
	request->rc = 0;
	request->error = (struct tkb_error){ 0 };
	request->status = 0;
	request->length = UINT64_MAX;
	request->etag[0] = '\0';
	request->date_s = 0;
	request->modified_s = 0;
	request->retry_after_ms = 0;
	for (size_t i = 0; i < request->wanted_count; i++)
		request->wanted[i].value[0] = '\0';
}

int tkb_http_client_do(struct tkb_http_client *client,
                       const struct tkb_op_limits *limits,
                       struct tkb_http_request *requests, size_t count,
                       struct tkb_error *err)
{
	struct run run = { client, limits, requests, count, 0, NULL, false };
	int rc;

	for (size_t i = 0; i < count; i++)
		clear(&requests[i]);
	rc = do_all(&run, err);
	drop_all(client);
	return rc;
}
