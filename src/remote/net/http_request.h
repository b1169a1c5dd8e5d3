/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_REQUEST_H
#define TKB_REMOTE_NET_HTTP_REQUEST_H

/*
 * An HTTP request and its answer, and the options for all requests of a client.
 */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_HTTP_CLIENT_CONNECTIONS = 8 /* default number of connections */
};

/* All borrowed until close. NULL or 0 means the default. */
struct tkb_http_client_options {
	const struct tkb_remote_url
		*url;     /* only its TLS parameters are used: cafile, cert,
		             key, verify, server-name */
	const char *user; /* for basic authentication */
	const char *password;
	const char *bearer;
	bool has_netrc; /* look into netrc_file, or ~/.netrc */
	const char *netrc_file;
	const char *const *headers; /* "Name: value" each, sent with every
	                               request */
	size_t header_count;
	uint32_t connections; /* maximum; 0: TKB_HTTP_CLIENT_CONNECTIONS */
	bool is_direct;       /* do not use a proxy */
};

/*
 * A wanted header of an answer. Repeated headers are joined by ", ". One that is
 * too long is a failure of the request.
 */
struct tkb_http_header {
	const char *name;
	char *value; /* the caller's buffer of `size` bytes; "" if the header
	                is missing */
	size_t size;
};

struct tkb_http_request {
	const char *method; /* GET, HEAD, PUT, DELETE, PROPFIND, MKCOL... */
	const char *url;    /* complete and encoded, sent unchanged; no
	                       secret */
	const char *const *headers; /* for this request alone */
	size_t header_count;
	const struct tkb_blob *body; /* may be NULL */
	/*
	 * Fail where libcurl would send the body again, which it does if a
	 * connection that it reused is closed before an answer: what came of the
	 * body may have been kept.
	 */
	bool is_body_sent_once;
	uint64_t offset; /* request the bytes from here on (Range) */
	/*
	 * Receives the body of a 2xx answer; may be NULL. If `offset` is not 0
	 * and the server sends the whole body with status 200, the bytes before
	 * `offset` are skipped.
	 */
	const struct tkb_sink *sink;
	/* A longer body fails with TKB_ERR_UNAVAILABLE. 0: no limit. */
	uint64_t limit;
	/*
	 * Receives the body of an answer other than 2xx, cut without a failure
	 * at the buffer's limit; may be NULL.
	 */
	struct tkb_buf *refusal;
	struct tkb_http_header *wanted; /* of the answer, filled in */
	size_t wanted_count;
	/*
	 * WWW-Authenticate of a 401; several requests may share the struct. May
	 * be NULL.
	 */
	struct tkb_http_header *challenge;

	/* The result, filled in. */
	int rc; /* 0: there was an answer; else the failure */
	struct tkb_error error;
	long status;             /* 200, 404, ... */
	uint64_t length;         /* Content-Length; UINT64_MAX: unknown */
	char etag[128];          /* "" if there is none */
	int64_t date_s;          /* Date, since 1970; 0: none */
	int64_t modified_s;      /* Last-Modified; 0: none */
	uint32_t retry_after_ms; /* 0: no Retry-After */
};

#endif
