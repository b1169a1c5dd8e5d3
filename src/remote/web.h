/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_WEB_H
#define TKB_REMOTE_WEB_H

/*
 * HTTP as a client, by libcurl: one request, or many at once over a few
 * connections that are kept alive, within the bounds of a call.
 *
 *     rc = tkb_web_open(&options, &web, err);
 *     rc = tkb_web_do(web, call, requests, count, err);
 *     for each: rc = tkb_web_judge(&requests[i], call, err);
 *
 * Nothing here tries again, follows a redirect to another host with secrets,
 * or puts a secret into a message. No signal is raised, nothing outlives the
 * call's deadline (a resolver that hangs neither).
 */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_WEB_CONNECTIONS = 8 /* at once, where nobody says how many */
};

struct tkb_web;

/* All borrowed until close. NULL or 0 is the default in each. */
struct tkb_web_options {
	const struct tkb_place *place; /* its TLS parameters are read: cafile,
	                                  cert, key, verify, server-name */
	const char *user;              /* basic */
	const char *password;
	const char *bearer;
	bool has_netrc; /* look into netrc_file, or ~/.netrc */
	const char *netrc_file;
	const char *const *headers; /* "Name: value" each, with every request */
	size_t header_count;
	uint32_t connections; /* at most so many; TKB_WEB_CONNECTIONS */
};

struct tkb_web_request {
	const char *method; /* GET, HEAD, PUT, DELETE, PROPFIND, MKCOL... */
	const char *url;    /* whole and encoded, sent as it is; no secret */
	const char *const *headers; /* of this request alone */
	size_t header_count;
	const struct tkb_blob *body; /* NULL: none */
	uint64_t offset; /* ask for the bytes from here on (Range) */
	/*
	 * Where the body of a 2xx answer goes; NULL: nowhere. Where `offset` is
	 * not 0 and the server answers 200 with everything, the bytes before
	 * `offset` are left out.
	 */
	const struct tkb_sink *sink;
	/* A longer body ends it: TKB_ERR_UNAVAILABLE. 0: none does. */
	uint64_t limit;
	/*
	 * The first bytes of a body that is not a 2xx answer's, up to the
	 * buffer's limit (the rest is dropped, no failure); NULL: nowhere.
	 */
	struct tkb_buf *refusal;
	const char *wanted; /* a header that is to be told; NULL: none */

	/* Filled in. */
	int rc; /* 0: there was an answer; else what ended it */
	struct tkb_error error;
	long status;             /* 200, 404, ... */
	uint64_t length;         /* Content-Length; UINT64_MAX: not told */
	char etag[128];          /* "" where there is none */
	int64_t date_s;          /* Date, since 1970; 0: none */
	int64_t modified_s;      /* Last-Modified; 0: none */
	uint32_t retry_after_ms; /* 0: not told */
	char content_type[64];
	char told[64]; /* what `wanted` says; "" where there is none */
};

/*
 * Returns 0, TKB_ERR_INVALID (a parameter that makes no sense),
 * TKB_ERR_UNSUPPORTED (a libcurl that is not safe to use in a library) or
 * TKB_ERR_NOMEM. Nothing is connected to.
 */
TKB_NODISCARD int tkb_web_open(const struct tkb_web_options *options,
                               struct tkb_web **out, struct tkb_error *err);
void tkb_web_close(struct tkb_web *web);

/*
 * Do all of `requests`, in any order, several at once. Returns 0 where each has
 * an `rc`, whatever that is, or TKB_ERR_CANCELLED or TKB_ERR_NOMEM. In `rc`, a
 * body that ends before Content-Length, a stall, a lost connection are
 * TKB_ERR_UNAVAILABLE; a certificate that one side does not accept is
 * TKB_ERR_DENIED; a file of ours that cannot be used is TKB_ERR_INVALID. Who
 * cannot be connected to is not asked for the rest.
 */
TKB_NODISCARD int tkb_web_do(struct tkb_web *web, const struct tkb_call *call,
                             struct tkb_web_request *requests, size_t count,
                             struct tkb_error *err);

/*
 * What an answer means for a backend: 0 (2xx; 416 to an `offset`: nothing is
 * left), TKB_MISS (404, 410), TKB_ERR_DENIED (401, 403, 407, and other 4xx),
 * TKB_ERR_UNAVAILABLE (408, 425, 429, 5xx, a redirect that leads nowhere), or
 * the request's `rc`. Hands what Retry-After said to call->retry_after_ms.
 */
TKB_NODISCARD int tkb_web_judge(const struct tkb_web_request *request,
                                const struct tkb_call *call,
                                struct tkb_error *err);

/* A date as HTTP tells it, in seconds since 1970; 0 where it is none. */
int64_t tkb_web_date(const char *text);

/* Append `path`, all but letters, digits and "/-._~" as %XX. */
void tkb_web_add_path(struct tkb_buf *url, const char *path);

#endif
