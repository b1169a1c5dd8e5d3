/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_SLOT_H
#define TKB_REMOTE_NET_HTTP_SLOT_H

/* How requests are on their way at once: each has a curl handle. */

#include "remote/net/curl.h"
#include "remote/net/http_request.h"

enum {
	TKB_HTTP_STREAMS = 8,   /* requests a connection has under HTTP/2 */
	TKB_HTTP_REDIRECTS = 5, /* followed one after another */
	TKB_HTTP_DRAIN =
		64 * 1024 /* bytes nobody wants, to keep a connection */
};

struct tkb_http_slot {
	const struct tkb_http_client_options *options;
	CURL *curl;                       /* owned */
	struct curl_slist *headers;       /* owned */
	struct curl_slist *connect_to;    /* owned */
	char *url;                        /* owned; what is asked now */
	struct tkb_http_request *request; /* NULL: the slot is free */
	unsigned redirects;
	bool is_other_server; /* redirected to another server: no secrets */
	bool is_moving;       /* there is a connection */
	bool is_answered;     /* the header is there, to its last line */
	bool is_enough;       /* the rest of the body is not wanted */
	uint64_t moved_ns;    /* when a byte moved last */
	int unsent;           /* bytes in the socket, when last looked */
	uint64_t sent;        /* of the request's body */
	uint64_t got;         /* of the answer's */
	size_t header_size;   /* of the answer */
	int rc;               /* what ended it here; 0: nothing yet */
	char fault[CURL_ERROR_SIZE];
};

struct tkb_http_client {
	struct tkb_http_client_options options;
	CURLM *multi;                /* owned; keeps the connections */
	struct tkb_http_slot *slots; /* owned */
	size_t slot_count;
	size_t active_count;
};

void tkb_http_slot_release(struct tkb_http_slot *slot);

/* Let the slot hear of what the handle moves; failures as in tkb_curl_set(). */
void tkb_http_slot_set_callbacks(struct tkb_http_slot *slot, CURLcode *code);

/* Make the slot's handle ready to ask for `url`. */
TKB_NODISCARD int tkb_http_slot_prepare(struct tkb_http_slot *slot,
                                        const char *url,
                                        const struct tkb_op_limits *limits,
                                        struct tkb_error *err);

/*
 * The transfer is over: fill in the request. TKB_MISS: it was redirected, and
 * the slot is ready to ask there.
 */
TKB_NODISCARD int tkb_http_slot_finish(struct tkb_http_slot *slot,
                                       CURLcode code,
                                       const struct tkb_op_limits *limits);

/* Turn a failure of libcurl's into ours. */
int tkb_http_slot_explain(const struct tkb_http_slot *slot, CURLcode code,
                          struct tkb_error *err);

#endif
