/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_SLOT_H
#define TKB_REMOTE_NET_HTTP_SLOT_H

/* Slots for requests that run at once. Each slot has a curl handle. */

#include "remote/net/curl.h"
#include "remote/net/http_request.h"

enum {
	TKB_HTTP_STREAMS = 8,   /* requests per HTTP/2 connection */
	TKB_HTTP_REDIRECTS = 5, /* followed for one request */
	TKB_HTTP_DRAIN =
		64 * 1024 /* unwanted bytes read to keep a connection */
};

struct tkb_http_slot {
	const struct tkb_http_client_options *options;
	CURL *curl;                       /* owned */
	struct curl_slist *headers;       /* owned */
	struct curl_slist *connect_to;    /* owned */
	char *url;                        /* owned; of the current request */
	struct tkb_http_request *request; /* NULL: the slot is free */
	unsigned redirects;
	bool is_other_server;   /* redirected to another server: no secrets */
	bool shares_connection; /* the server has HTTP/2 */
	bool is_waiting;        /* not given to libcurl yet */
	bool has_waited;        /* for a connection that has become free */
	bool is_moving;         /* connected: bytes can move */
	bool is_answered;       /* the complete header was received */
	bool is_enough;         /* the rest of the body is not wanted */
	uint64_t moved_ns;      /* when a byte moved last */
	int unsent;             /* bytes in the socket's queue at the last
	                         check */
	uint64_t sent;          /* bytes of the request's body */
	uint64_t got;           /* bytes of the answer's body */
	size_t header_size;     /* of the answer */
	int rc;                 /* failure found by our callbacks, or 0 */
	char fault[CURL_ERROR_SIZE];
};

struct tkb_http_client {
	struct tkb_http_client_options options;
	CURLM *multi;                /* owned; keeps the connections */
	struct tkb_http_slot *slots; /* owned */
	size_t slot_count;
	size_t active_count;
	long version;       /* of HTTP, of the last answer; 0: none yet */
	long other_version; /* the same, of servers redirected to */
};

void tkb_http_slot_release(struct tkb_http_slot *slot);

/* Set the slot's callbacks on its handle; failures as in tkb_curl_set(). */
void tkb_http_slot_set_callbacks(struct tkb_http_slot *slot, CURLcode *code);

/* Prepare the slot's handle for a request to `url`. */
TKB_NODISCARD int tkb_http_slot_prepare(struct tkb_http_slot *slot,
                                        const char *url,
                                        const struct tkb_op_limits *limits,
                                        struct tkb_error *err);

/*
 * The transfer is over: fill in the request. TKB_MISS: it was redirected, and
 * the slot is ready to send it there.
 */
TKB_NODISCARD int tkb_http_slot_finish(struct tkb_http_slot *slot,
                                       CURLcode code,
                                       const struct tkb_op_limits *limits);

/* Turn a failure of libcurl's into ours. */
int tkb_http_slot_explain(const struct tkb_http_slot *slot, CURLcode code,
                          struct tkb_error *err);

#endif
