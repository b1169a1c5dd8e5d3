/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_NGINX_H
#define TKB_TESTS_NGINX_H

/*
 * The real nginx, in the test's folder, with the user who runs the test.
 *
 *     struct server server = start_nginx(nginx_dav());
 *
 *     open_remote(text("http://127.0.0.1:%u", server.port));
 *     stop_server(&server, SIGKILL);
 */

#include "server.h"

/*
 * Start it with these lines in its server block, and `more` outside of all
 * blocks ("" or load_module). If they have ssl_certificate, it also listens on
 * `tls_port`, with HTTP/2. It serves the folder nginx/www; each request is a
 * line of nginx/access.log:
 *
 *     <number of the connection> <protocol> <method> <path> <status>
 *
 * Only one may run at a time; a second one starts with empty logs and the first
 * one's files.
 */
struct server start_nginx_with(const char *more, const char *lines);
struct server start_nginx(const char *lines);

/* It accepts PUT and DELETE, and lists its folders in JSON. */
const char *nginx_dav(void);

/* The module that adds PROPFIND; "" if it is not installed. */
const char *nginx_dav_module(void);
/* It lists its folders only by WebDAV, and makes none unless asked. */
const char *nginx_webdav(void);

/* With certificate `name`, as make_certificate() makes it. */
const char *nginx_tls(const char *name);

/*
 * The number of lines of the access log with `part`. A request is logged
 * shortly after its answer: waits a while until there are `wanted`.
 */
size_t count_requests(const char *part, size_t wanted);
/* The number of their connections. */
size_t count_connections(void);

#endif
