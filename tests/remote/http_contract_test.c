/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"

#include <signal.h>
#include <stdlib.h>

#include "fake_http.h"
#include "nginx.h"

/* The contract, for HTTP: in each way that a server lists what it has. */

static struct server server;

static void stop(void)
{
	stop_server(&server, SIGKILL);
}

static const char *start_index(void)
{
	server = start_nginx(nginx_dav());
	return text("http://127.0.0.1:%u/some/where", server.port);
}

static const struct remote_kind http_index = {
	.start = start_index,
	.stop = stop,
	.is_shared = true,
	.has_clock = true,
};

REMOTE_CONTRACT(http_index)

static const char *start_tls(void)
{
	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_nginx(text("%s%s", nginx_tls("server"), nginx_dav()));
	return text("https://localhost:%u/?cafile=%s/ca.pem", server.tls_port,
	            test_folder());
}

static const struct remote_kind http_tls = {
	.start = start_tls,
	.stop = stop,
	.is_shared = true,
	.has_clock = true,
};

REMOTE_CONTRACT(http_tls)

static const char *start_dav(void)
{
	if (nginx_dav_module()[0] == '\0')
		skip();
	server = start_nginx_with(nginx_dav_module(), nginx_webdav());
	return text("http://127.0.0.1:%u/a%%20b", server.port);
}

static const struct remote_kind http_dav = {
	.start = start_dav,
	.stop = stop,
	.is_shared = true,
	.has_clock = true,
};

REMOTE_CONTRACT(http_dav)

static const char *start_document(void)
{
	server = start_web(0);
	return text("http://127.0.0.1:%u/base", server.port);
}

static const struct remote_kind http_document = {
	.start = start_document,
	.stop = stop,
	.is_shared = true,
	.has_clock = true,
};

REMOTE_CONTRACT(http_document)
