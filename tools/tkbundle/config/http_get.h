/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_HTTP_GET_H
#define TKBUNDLE_HTTP_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

/*
 * Send one GET request to a server on this machine. Its host is an address or
 * localhost, because a name service could hang. No TLS, no proxy, no redirect.
 */
struct http_url {
	struct sockaddr_storage addresses[2]; /* localhost has two */
	socklen_t sizes[2];
	size_t address_count;
	char host[80];   /* for the Host header, with the port */
	char path[1024]; /* with the query */
};

/* The kind of URL that is accepted, as a part of a sentence. */
#define HTTP_URL_WANTED                                                        \
	"http://ADDRESS[:PORT][/PATH], the address in numbers or localhost"

/* Is `text` such a URL? */
bool http_url_parse(const char *text, struct http_url *out);

enum {
	HTTP_REASON_SIZE = 128
};

/*
 * Get the URL, in at most `limit_ms` for each address.
 *
 * @param reason_out  receives why there was no answer, or its status line
 * @return the status, such as 200; 0 if there was no answer
 */
int http_get(const struct http_url *url, uint64_t limit_ms,
             char reason_out[HTTP_REASON_SIZE]);

#endif
