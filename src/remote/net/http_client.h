/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_CLIENT_H
#define TKB_REMOTE_NET_HTTP_CLIENT_H

/*
 * An HTTP client on libcurl. It sends one request, or many at once over a few
 * persistent connections, within the limits of an operation.
 *
 *     rc = tkb_http_client_open(&options, &client, err);
 *     rc = tkb_http_client_do(client, limits, requests, count, err);
 *     for each: rc = tkb_http_request_judge(&requests[i], limits, err);
 *
 * Nothing here retries, sends secrets to another host after a redirect, or puts
 * a secret into a message. No signal is raised. Nothing outlives the deadline,
 * not even a name lookup that hangs.
 */

#include "remote/net/http_request.h"

struct tkb_http_client;

/*
 * Make a client; no connection is made yet. Returns 0, TKB_ERR_INVALID (a bad
 * parameter), TKB_ERR_UNSUPPORTED (libcurl is not thread-safe) or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_http_client_open(
	const struct tkb_http_client_options *options,
	struct tkb_http_client **out, struct tkb_error *err);
void tkb_http_client_close(struct tkb_http_client *client);

/*
 * Do all of `requests`, in any order, several at once. Returns 0 if each
 * request has an `rc`, whatever its value, or TKB_ERR_CANCELLED or
 * TKB_ERR_NOMEM. The `rc` of a request is TKB_ERR_UNAVAILABLE for a body that
 * ends before Content-Length, a stall or a lost connection; TKB_ERR_DENIED for
 * a certificate that either side refuses; TKB_ERR_INVALID for an unusable file
 * of ours. After a connection failure while there is no other connection, the
 * remaining requests fail without a try.
 */
TKB_NODISCARD int tkb_http_client_do(struct tkb_http_client *client,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_http_request *requests,
                                     size_t count, struct tkb_error *err);

/*
 * Make one request to a server that gives credentials for `url`, by a client of
 * its own, and judge the answer. That client has the CA certificates of `url`, but
 * none of its secrets. `is_direct`: a proxy is not used.
 */
TKB_NODISCARD int tkb_http_ask_apart(const struct tkb_remote_url *url,
                                     bool is_direct,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_http_request *request,
                                     struct tkb_error *err);

/*
 * The meaning of an answer for a backend: 0 (2xx; 416 with an `offset`: no
 * bytes left), TKB_MISS (404, 410), TKB_ERR_DENIED (401, 403, 407, and other
 * 4xx), TKB_ERR_UNAVAILABLE (408, 425, 429, 5xx, a broken redirect), or the
 * request's `rc`. Stores the value of Retry-After in limits->retry_after_ms.
 */
TKB_NODISCARD int tkb_http_request_judge(const struct tkb_http_request *request,
                                         const struct tkb_op_limits *limits,
                                         struct tkb_error *err);

/*
 * Is only this object unreadable, rather than the server unavailable? Yes if
 * this request, one of `count` made together, got a 5xx answer, another one
 * succeeded, and this is the last try.
 */
bool tkb_http_request_fails_alone(const struct tkb_http_request *request,
                                  const struct tkb_http_request *requests,
                                  size_t count,
                                  const struct tkb_op_limits *limits);

/*
 * Resolve `reference`, which came in an answer from the URL `base`, and write the
 * result to `out`, replacing its contents and adding a NUL. `*is_same_out` tells
 * whether it is on the same server; if not, no secret may be sent there. Returns
 * 0, TKB_ERR_UNAVAILABLE (not an HTTP URL), TKB_ERR_DENIED (from https to http) or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_http_url_resolve(const char *base, const char *reference,
                                       struct tkb_buf *out, bool *is_same_out,
                                       struct tkb_error *err);

enum {
	TKB_HTTP_CONDITION_SIZE = 160
};

/*
 * Write the header "If-Match: <etag>". False, with the header "", if the ETag is
 * not a strong one (RFC 9110), which alone can be used so.
 */
bool tkb_http_if_match(const char *etag, char out[TKB_HTTP_CONDITION_SIZE]);

/* Parse an HTTP date into seconds since 1970; 0 if it is not a date. */
int64_t tkb_http_date_parse(const char *text);

#endif
