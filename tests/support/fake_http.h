/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAKE_HTTP_H
#define TKB_TESTS_FAKE_HTTP_H

/*
 * A small HTTP server that keeps files in memory: GET, HEAD, PUT, DELETE, Range,
 * ETag, If-Match, If-None-Match, Last-Modified. It lists nothing. Many clients
 * at once.
 */

#include "remote_fixture.h"
#include "server.h"

enum web_flags {
	WEB_BLIND = 1u << 0,  /* passes over If-Match and If-None-Match */
	WEB_WEAK = 1u << 1,   /* its ETags are weak */
	WEB_STALE = 1u << 2,  /* its ETags do not change with the bytes */
	WEB_SECRET = 1u << 3, /* says 403 to whoever asks for a folder */
	WEB_SLOW = 1u << 4,   /* takes 50 ms for each answer */
	WEB_STRICT = 1u << 5  /* wants MKCOL before PUT, as WebDAV does */
};

struct server start_web(unsigned flags);

/* What a server says to requests whose first lines hold `when`. */
struct web_answer {
	const char *when;
	const char *what; /* NULL: nothing, for ever */
	bool hangs;       /* it does not close the connection then */
};

/* Answers in words. */
#define EMPTY(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"
#define OKAY(size, body)                                                       \
	"HTTP/1.1 200 OK\r\nContent-Length: " #size "\r\n\r\n" body
#define MOVED(status, to)                                                      \
	"HTTP/1.1 " status "\r\nLocation: " to "\r\nContent-Length: 0\r\n\r\n"

/*
 * A server that gives the first answer that fits, else 404; a request a
 * connection. The heads of all requests stand in the file `requests`.
 */
struct server start_script(const struct web_answer *answers, size_t count);

/* The same with one answer. */
struct server start_answer(const char *when, const char *what);

/* What the script's server was asked so far. */
const char *requests_so_far(void);

/* In the clear, on its port, with `rest` behind. */
const char *http_url(const struct server *server, const char *rest);

#endif
