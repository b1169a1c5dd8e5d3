/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAKE_HTTP_H
#define TKB_TESTS_FAKE_HTTP_H

/*
 * A small HTTP server that keeps files in memory: GET, HEAD, PUT, DELETE,
 * Range, ETag, If-Match, If-None-Match, Last-Modified. It has no listings, and
 * serves many clients at once.
 */

#include "remote_fixture.h"
#include "server.h"

enum web_flags {
	WEB_BLIND = 1u << 0,  /* ignores If-Match and If-None-Match */
	WEB_WEAK = 1u << 1,   /* its ETags are weak */
	WEB_STALE = 1u << 2,  /* its ETags do not change with the bytes */
	WEB_SECRET = 1u << 3, /* answers 403 to requests for a folder */
	WEB_SLOW = 1u << 4,   /* takes 50 ms for each answer */
	WEB_STRICT = 1u << 5, /* requires MKCOL before PUT, like WebDAV */
	WEB_LAX = 1u << 6,    /* weak ETags match, too */
	WEB_DIGEST = 1u << 7  /* its ETags do not change with the same bytes */
};

struct server start_web(unsigned flags);

/* The answer to requests whose first line contains `when`. */
struct web_answer {
	const char *when;
	const char *what; /* NULL: never answers */
	bool hangs;       /* it keeps the connection open afterwards */
};

#define ANSWERED(when_, what_)                                                 \
	{                                                                      \
		.when = (when_), .what = (what_)                               \
	}

/* Answers in words. */
#define EMPTY(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"
#define OKAY(size, body)                                                       \
	"HTTP/1.1 200 OK\r\nContent-Length: " #size "\r\n\r\n" body
#define MOVED(status, to)                                                      \
	"HTTP/1.1 " status "\r\nLocation: " to "\r\nContent-Length: 0\r\n\r\n"

/* 200 with this body. */
const char *okay(const char *body);

/*
 * A server that gives the first matching answer, else 404, with one request per
 * connection. The heads of all requests are in the file `requests`.
 */
struct server start_script(const struct web_answer *answers, size_t count);

/* The same with one answer. */
struct server start_answer(const char *when, const char *what);

/* The requests to the script's server so far. */
const char *requests_so_far(void);

/* The URL without TLS, with its port, followed by `rest`. */
const char *http_url(const struct server *server, const char *rest);

#endif
