/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/buf.h"
#include "remote/net/curl.h"
#include "remote/net/limits.h"

enum {
	TICK_MS = 50, /* between two checks of the limits */
	URL_LIMIT = 1024,
	READ_SIZE = 64 * 1024,
	/*
	 * One TLS record. Of a longer piece, libcurl reports no progress until
	 * all of it is sent: on a slow connection that would look like a stall.
	 */
	TLS_RECORD_SIZE = 16 * 1024
};

struct tkb_connection {
	struct tkb_peer peer;
	CURLM *multi;                  /* owned; holds the connection */
	CURL *curl;                    /* owned */
	struct curl_slist *connect_to; /* owned */
	curl_socket_t fd;
	bool is_hung_up;
	uint64_t moved_ns; /* when a byte moved last */
	char fault[CURL_ERROR_SIZE];
};

struct tkb_op_limits tkb_connection_open_limits(
	const struct tkb_op_limits *limits)
{
	const uint64_t end_ns =
		tkb_now_ns() + limits->connect_ms * TKB_NS_PER_MS;
	struct tkb_op_limits shorter = *limits;

	if (end_ns < shorter.deadline_ns) {
		shorter.deadline_ns = end_ns;
		shorter.deadline_name = "connect-timeout";
	}
	return shorter;
}

void tkb_connection_close(struct tkb_connection *connection)
{
	if (connection == NULL)
		return;
	if (connection->multi != NULL && connection->curl != NULL)
		(void)curl_multi_remove_handle(connection->multi,
		                               connection->curl);
	curl_easy_cleanup(connection->curl);
	curl_multi_cleanup(connection->multi);
	curl_slist_free_all(connection->connect_to);
	free(connection);
}

TKB_AUTO_POINTER(close_at, struct tkb_connection, tkb_connection_close)

static int explain_connection_fault(struct tkb_connection *connection,
                                    CURLcode code, struct tkb_error *err)
{
	const int rc = tkb_curl_explain(connection->curl, connection->peer.url,
	                                connection->fault, code, err);

	return rc < 0 ? rc
	              : tkb_fail(err, TKB_ERR_UNAVAILABLE, "%s",
	                         curl_easy_strerror(code));
}

/*
 * With the parameter server-name, the URL given to libcurl has that name, so
 * that the certificate is checked against it; CURLOPT_CONNECT_TO names the
 * host.
 */
static int set_address(struct tkb_connection *connection, CURLcode *code,
                       struct tkb_error *err)
{
	const struct tkb_peer *peer = &connection->peer;
	const char *host = peer->port != 0 ? peer->url->host : "localhost";
	const char *name = tkb_remote_url_param(peer->url, "server-name");
	const char *shown = name != NULL ? name : host;
	const bool is_ipv6 = strchr(shown, ':') != NULL;
	char text[URL_LIMIT];

	if (name != NULL) {
		(void)snprintf(
			text, sizeof(text),
			strchr(host, ':') != NULL ? "::[%s]:" : "::%s:", host);
		if (tkb_curl_slist_add(&connection->connect_to, text, err) < 0)
			return TKB_ERR_NOMEM;
		tkb_curl_set(*code, connection->curl, CURLOPT_CONNECT_TO,
		             connection->connect_to);
	}
	if (snprintf(text, sizeof(text),
	             is_ipv6 ? "%s://[%s]:%u" : "%s://%s:%u",
	             peer->has_tls ? "https" : "http", shown,
	             peer->port != 0 ? (unsigned)peer->port : 80u) >=
	            (int)sizeof(text) ||
	    strpbrk(shown, "/?#@") != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.200s' cannot be a server's name", shown);
	tkb_curl_set(*code, connection->curl, CURLOPT_URL, text);
	return 0;
}

static int set_options(struct tkb_connection *connection,
                       const struct tkb_op_limits *limits,
                       struct tkb_error *err)
{
	const int left_ms = tkb_op_limits_wait_ms(limits, 24 * 60 * 60 * 1000);
	const struct tkb_peer *peer = &connection->peer;
	CURLcode code = CURLE_OK;
	CURL *curl = connection->curl;
	int rc;

	tkb_curl_set(code, curl, CURLOPT_NOSIGNAL, 1L);
	tkb_curl_set(code, curl, CURLOPT_QUICK_EXIT, 1L);
	tkb_curl_set(code, curl, CURLOPT_ERRORBUFFER, connection->fault);
	tkb_curl_set(code, curl, CURLOPT_CONNECT_ONLY, 1L);
	tkb_curl_set(code, curl, CURLOPT_PROXY, "");
	tkb_curl_set(code, curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
	tkb_curl_set(code, curl, CURLOPT_BUFFERSIZE, (long)READ_SIZE);
	/*
	 * libcurl divides this time among the host's addresses; the limits of
	 * the operation end it earlier.
	 */
	tkb_curl_set(code, curl, CURLOPT_CONNECTTIMEOUT_MS,
	             (long)left_ms + 2 * TICK_MS);
	if (peer->port == 0)
		tkb_curl_set(code, curl, CURLOPT_UNIX_SOCKET_PATH,
		             peer->url->path);
	if (peer->has_tls)
		tkb_curl_set_tls(curl, peer->url, true, &code);
	rc = set_address(connection, &code, err);
	if (rc < 0)
		return rc;
	return code == CURLE_OK
	               ? 0
	               : explain_connection_fault(connection, code, err);
}

static int fail_multi(CURLMcode code, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_NOMEM, "libcurl cannot wait: %s",
	                curl_multi_strerror(code));
}

static int connect_it(struct tkb_connection *connection,
                      const struct tkb_op_limits *limits, struct tkb_error *err)
{
	CURLMcode code =
		curl_multi_add_handle(connection->multi, connection->curl);
	int count = 0;

	for (;;) {
		const CURLMsg *message;
		int rc;

		if (code == CURLM_OK)
			code = curl_multi_perform(connection->multi, &count);
		if (code != CURLM_OK)
			return fail_multi(code, err);
		message = curl_multi_info_read(connection->multi, &count);
		if (message != NULL && message->data.result != CURLE_OK)
			return explain_connection_fault(
				connection, message->data.result, err);
		if (message != NULL)
			return 0;
		rc = tkb_op_limits_check(limits, err);
		if (rc < 0)
			return tkb_fail_while(err, rc, "cannot connect");
		code = curl_multi_poll(connection->multi, NULL, 0,
		                       tkb_op_limits_wait_ms(limits, TICK_MS),
		                       NULL);
	}
}

static int keep_text(CURL *curl, curl_infotype type, char *text, size_t size,
                     void *self)
{
	struct tkb_connection *connection = self;

	(void)curl;
	if (type == CURLINFO_TEXT)
		(void)snprintf(connection->fault, sizeof(connection->fault),
		               "%.*s", (int)size, text);
	return 0;
}

/*
 * libcurl keeps the first failure in its error buffer, which may be one of an
 * address that was tried before the one that worked. From here on, keep the
 * last failure.
 */
static int keep_last_fault(struct tkb_connection *connection,
                           struct tkb_error *err)
{
	CURLcode code = curl_easy_getinfo(
		connection->curl, CURLINFO_ACTIVESOCKET, &connection->fd);

	tkb_curl_set(code, connection->curl, CURLOPT_DEBUGFUNCTION, keep_text);
	tkb_curl_set(code, connection->curl, CURLOPT_DEBUGDATA, connection);
	tkb_curl_set(code, connection->curl, CURLOPT_VERBOSE, 1L);
	return code == CURLE_OK
	               ? 0
	               : explain_connection_fault(connection, code, err);
}

int tkb_connection_open(const struct tkb_peer *peer,
                        const struct tkb_op_limits *limits,
                        struct tkb_connection **out, struct tkb_error *err)
{
	const size_t path_limit = sizeof(((struct sockaddr_un *)0)->sun_path);
	TKB_AUTO(close_at)
	struct tkb_connection *connection = calloc(1, sizeof(*connection));
	int rc;

	rc = tkb_curl_check_threads(err);
	if (rc < 0)
		return rc;
	if (peer->port == 0 && strlen(peer->url->path) >= path_limit)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the socket's path is longer than %zu bytes",
		                path_limit - 1);
	if (connection == NULL)
		return tkb_fail_nomem(err);
	connection->peer = *peer;
	connection->curl = curl_easy_init();
	connection->multi = curl_multi_init();
	if (connection->curl == NULL || connection->multi == NULL)
		return tkb_fail_nomem(err);
	rc = set_options(connection, limits, err);
	if (rc == 0)
		rc = connect_it(connection, limits, err);
	if (rc < 0)
		return rc;
	rc = keep_last_fault(connection, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(connection);
	return 0;
}

/* Wait until one of `events` (POLLIN, POLLOUT) is ready. */
static int wait_for_socket(const struct tkb_connection *connection,
                           short events, const struct tkb_op_limits *limits,
                           struct tkb_error *err)
{
	struct pollfd item = { .fd = connection->fd, .events = events };

	if (tkb_op_limits_has_stalled(limits, connection->moved_ns))
		return tkb_op_limits_fail_stalled(limits, err);
	(void)poll(&item, 1, tkb_op_limits_wait_ms(limits, TICK_MS));
	return 0;
}

int tkb_connection_write(struct tkb_connection *connection,
                         const struct tkb_op_limits *limits,
                         struct tkb_bytes bytes, struct tkb_error *err)
{
	int rc = 0;

	connection->moved_ns = tkb_now_ns();
	while (bytes.size != 0 && !connection->is_hung_up && rc == 0) {
		const size_t size =
			connection->peer.has_tls && bytes.size > TLS_RECORD_SIZE
				? TLS_RECORD_SIZE
				: bytes.size;
		size_t moved = 0;
		CURLcode code;

		rc = tkb_op_limits_check(limits, err);
		if (rc < 0)
			return rc;
		code = curl_easy_send(connection->curl, bytes.data, size,
		                      &moved);
		if (code == CURLE_AGAIN)
			rc = wait_for_socket(connection, POLLOUT, limits, err);
		else if (code == CURLE_OK)
			connection->moved_ns = tkb_now_ns();
		connection->is_hung_up =
			code != CURLE_OK && code != CURLE_AGAIN;
		bytes = tkb_bytes_slice(bytes, moved, bytes.size);
	}
	return rc;
}

bool tkb_connection_is_hung_up(const struct tkb_connection *connection)
{
	return connection->is_hung_up;
}

int tkb_connection_read(struct tkb_connection *connection,
                        const struct tkb_op_limits *limits, void *data,
                        size_t size, size_t *got_out, struct tkb_error *err)
{
	int rc = 0;

	connection->moved_ns = tkb_now_ns();
	connection->fault[0] = '\0';
	while (rc == 0) {
		CURLcode code;

		rc = tkb_op_limits_check(limits, err);
		if (rc < 0)
			return rc;
		code = curl_easy_recv(connection->curl, data, size, got_out);
		if (code == CURLE_OK && *got_out != 0)
			return 0;
		if (code != CURLE_AGAIN)
			return explain_connection_fault(
				connection,
				code == CURLE_OK ? CURLE_GOT_NOTHING : code,
				err);
		rc = wait_for_socket(connection, POLLIN, limits, err);
	}
	return rc;
}
