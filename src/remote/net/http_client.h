/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_CLIENT_H
#define TKB_REMOTE_NET_HTTP_CLIENT_H

/*
 * HTTP as a client, by libcurl: one request, or many at once over a few
 * connections that are kept alive, within the limits of an operation.
 *
 *     rc = tkb_http_client_open(&options, &client, err);
 *     rc = tkb_http_client_do(client, limits, requests, count, err);
 *     for each: rc = tkb_http_request_judge(&requests[i], limits, err);
 *
 * Nothing here tries again, follows a redirect to another host with secrets,
 * or puts a secret into a message. No signal is raised, nothing outlives the
 * deadline (a resolver that hangs neither).
 */

#include "remote/net/http_request.h"

struct tkb_http_client;

/*
 * Returns 0, TKB_ERR_INVALID (a parameter that makes no sense),
 * TKB_ERR_UNSUPPORTED (a libcurl that is not safe to use in a library) or
 * TKB_ERR_NOMEM. Nothing is connected to.
 */
TKB_NODISCARD int tkb_http_client_open(
	const struct tkb_http_client_options *options,
	struct tkb_http_client **out, struct tkb_error *err);
void tkb_http_client_close(struct tkb_http_client *client);

/*
 * Do all of `requests`, in any order, several at once. Returns 0 where each has
 * an `rc`, whatever that is, or TKB_ERR_CANCELLED or TKB_ERR_NOMEM. In `rc`, a
 * body that ends before Content-Length, a stall, a lost connection are
 * TKB_ERR_UNAVAILABLE; a certificate that one side does not accept is
 * TKB_ERR_DENIED; a file of ours that cannot be used is TKB_ERR_INVALID. Who
 * cannot be connected to is not asked for the rest.
 */
TKB_NODISCARD int tkb_http_client_do(struct tkb_http_client *client,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_http_request *requests,
                                     size_t count, struct tkb_error *err);

/*
 * What an answer means for a backend: 0 (2xx; 416 to an `offset`: nothing is
 * left), TKB_MISS (404, 410), TKB_ERR_DENIED (401, 403, 407, and other 4xx),
 * TKB_ERR_UNAVAILABLE (408, 425, 429, 5xx, a redirect that leads nowhere), or
 * the request's `rc`. Hands what Retry-After said to limits->retry_after_ms.
 */
TKB_NODISCARD int tkb_http_request_judge(const struct tkb_http_request *request,
                                         const struct tkb_op_limits *limits,
                                         struct tkb_error *err);

/*
 * Is this one of `count` requests made together unreadable, while the server is
 * there? So it is if this one's answer is 5xx, another one's is good, and
 * nobody will try again.
 */
bool tkb_http_request_fails_alone(const struct tkb_http_request *request,
                                  const struct tkb_http_request *requests,
                                  size_t count,
                                  const struct tkb_op_limits *limits);

/*
 * The URL that `reference`, as in a header, means in an answer of `base`, ended by
 * a zero, into `out`, which is emptied before. `*is_same_out`: is it of the same
 * server? If not, no secret may be sent there. Returns 0, TKB_ERR_UNAVAILABLE (it
 * is no URL of HTTP), TKB_ERR_DENIED (it leads away from TLS) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_http_url_resolve(const char *base, const char *reference,
                                       struct tkb_buf *out, bool *is_same_out,
                                       struct tkb_error *err);

/* A date as HTTP tells it, in seconds since 1970; 0 if it is not one. */
int64_t tkb_http_date_parse(const char *text);

#endif
