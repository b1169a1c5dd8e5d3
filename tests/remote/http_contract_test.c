/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_contract.h"

#include "fake_http.h"
#include "nginx.h"

/* The contract, for HTTP: in each way that a server lists what it has. */

static const char *start_index(void)
{
	const struct server server = start_nginx(nginx_dav());

	return text("http://127.0.0.1:%u/some/where", server.port);
}

static const struct remote_kind http_index = { start_index, .is_shared = true,
	                                       .has_clock = true };

REMOTE_CONTRACT(http_index)

static const char *start_tls(void)
{
	make_certified("DNS:localhost", 2);
	const struct server server =
		start_nginx(text("%s%s", nginx_tls("server"), nginx_dav()));

	return text("https://localhost:%u/?cafile=%s/ca.pem", server.tls_port,
	            test_folder());
}

static const struct remote_kind http_tls = { start_tls, .is_shared = true,
	                                     .has_clock = true };

REMOTE_CONTRACT(http_tls)

static const char *start_dav(void)
{
	if (nginx_dav_module()[0] == '\0')
		skip();
	const struct server server =
		start_nginx_with(nginx_dav_module(), nginx_webdav());

	return text("http://127.0.0.1:%u/a%%20b", server.port);
}

static const struct remote_kind http_dav = { start_dav, .is_shared = true,
	                                     .has_clock = true };

REMOTE_CONTRACT(http_dav)

static const char *start_document(void)
{
	const struct server server = start_web(0);

	return text("http://127.0.0.1:%u/base", server.port);
}

static const struct remote_kind http_document = { start_document,
	                                          .is_shared = true,
	                                          .has_clock = true };

REMOTE_CONTRACT(http_document)
