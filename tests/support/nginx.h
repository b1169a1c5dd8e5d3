/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_NGINX_H
#define TKB_TESTS_NGINX_H

/*
 * The real nginx, in the test's folder, as whoever runs the test.
 *
 *     struct server server = start_nginx(nginx_dav());
 *
 *     open_remote(text("http://127.0.0.1:%u", server.port));
 *     stop_server(&server, SIGKILL);
 */

#include "server.h"

/*
 * Start it with these lines in its server block, and `more` outside of all
 * blocks ("" or load_module). Where they name ssl_certificate, it listens on
 * `tls_port`, too, with HTTP/2. What it serves lies in folder nginx/www; each
 * request is a line of nginx/access.log:
 *
 *     <number of the connection> <protocol> <method> <path> <status>
 *
 * One at a time; a second one starts with empty logs and what the first left.
 */
struct server start_nginx_with(const char *more, const char *lines);
struct server start_nginx(const char *lines);

/* It takes PUT and DELETE, and tells its folders in JSON. */
const char *nginx_dav(void);

/* The module that adds PROPFIND; "" where it is not installed. */
const char *nginx_dav_module(void);
/* It lists its folders by WebDAV alone, and makes none unless told. */
const char *nginx_webdav(void);

/* With certificate `name`, as make_certificate() makes it. */
const char *nginx_tls(const char *name);

/*
 * How many lines of the access log hold `part`. The last request is there a
 * little after its answer: wait until there are `wanted`, for a while.
 */
size_t count_requests(const char *part, size_t wanted);
/* How many connections they came by. */
size_t count_connections(void);

#endif
