/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_REQUEST_H
#define TKB_REMOTE_NET_HTTP_REQUEST_H

/* A request over HTTP and its answer, and the choices that hold for all. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_HTTP_CLIENT_CONNECTIONS =
		8 /* at once, where nobody says how many */
};

/* All borrowed until close. NULL or 0 is the default in each. */
struct tkb_http_client_options {
	const struct tkb_remote_url
		*url;     /* its TLS parameters are read: cafile,
	                                  cert, key, verify, server-name */
	const char *user; /* basic */
	const char *password;
	const char *bearer;
	bool has_netrc; /* look into netrc_file, or ~/.netrc */
	const char *netrc_file;
	const char *const *headers; /* "Name: value" each, with every request */
	size_t header_count;
	uint32_t connections; /* at most so many; TKB_HTTP_CLIENT_CONNECTIONS */
};

/* A header of an answer. Several of that name are joined by ", ". */
struct tkb_http_header {
	const char *name;
	char *value; /* `size` bytes of the caller's; "" if there is none, or it
	                is longer */
	size_t size;
};

struct tkb_http_request {
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
	struct tkb_http_header *wanted; /* of the answer, filled in */
	size_t wanted_count;
	/* WWW-Authenticate of a 401; several requests may share it. NULL */
	struct tkb_http_header *challenge;

	/* Filled in. */
	int rc; /* 0: there was an answer; else what ended it */
	struct tkb_error error;
	long status;             /* 200, 404, ... */
	uint64_t length;         /* Content-Length; UINT64_MAX: not told */
	char etag[128];          /* "" if there is none */
	int64_t date_s;          /* Date, since 1970; 0: none */
	int64_t modified_s;      /* Last-Modified; 0: none */
	uint32_t retry_after_ms; /* 0: not told */
};

#endif
