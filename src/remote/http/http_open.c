/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tkbundle/amount.h>

#include "base/buf.h"
#include "base/fd.h"
#include "remote/http/http.h"
#include "remote/net/escape.h"
#include "remote/net/secret.h"
#include "remote/net/url.h"

/* Reading the URL: the server, and the credentials. */

enum {
	URL_LIMIT = 8192,
	TOKEN_LIMIT = 16 * 1024,
	CONNECTIONS_LIMIT = 64
};

void tkb_http_close(void *self)
{
	struct tkb_http *http = self;

	if (http == NULL)
		return;
	tkb_http_client_close(http->client);
	free(http->base);
	free(http->bearer);
	free(http->headers);
	free(http);
}

TKB_AUTO_POINTER(close_at, struct tkb_http, tkb_http_close)

static int refuse_param(const char *name, const char *wanted,
                        struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "'%s' wants %s", name, wanted);
}

static int read_listing_options(struct tkb_http *http, struct tkb_error *err)
{
	static const char *const modes[] = { "auto", "index", "dav", "document",
		                             "none" };
	const char *mode = tkb_remote_url_param(http->url, "listing");
	const char *single = tkb_remote_url_param(http->url, "single-writer");
	size_t i = 0;

	http->is_single_writer =
		single != NULL &&
		(strcmp(single, "1") == 0 || strcmp(single, "true") == 0);
	if (single != NULL && !http->is_single_writer)
		return refuse_param("single-writer", "'1', or to be left out",
		                    err);
	while (mode != NULL && i < TKB_COUNT_OF(modes) &&
	       strcmp(mode, modes[i]) != 0)
		i++;
	if (i == TKB_COUNT_OF(modes))
		return refuse_param(
			"listing",
			"'auto', 'index', 'dav', 'document' or 'none'", err);
	http->mode = (enum tkb_http_listing_mode)i;
	return 0;
}

/* The parameters "header=Name: value". */
static int read_headers(struct tkb_http *http, struct tkb_error *err)
{
	const struct tkb_remote_url *url = http->url;

	http->headers =
		tkb_alloc_array(url->param_count, sizeof(*http->headers));
	if (http->headers == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < url->param_count; i++) {
		const char *value = url->params[i].value;
		const char *colon = strchr(value, ':');

		if (strcmp(url->params[i].name, "header") != 0)
			continue;
		if (colon == NULL || colon == value || colon[1] == '\0')
			return refuse_param("header",
			                    "a name, a colon and a value", err);
		http->headers[http->header_count++] = value;
	}
	return 0;
}

/* Symbolic links are followed: Kubernetes mounts tokens as links. */
static int read_token_file(struct tkb_http *http, const char *path,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK,
	                     0);
	TKB_AUTO(tkb_free_at) char *token = malloc(TOKEN_LIMIT);
	ssize_t size;

	if (token == NULL)
		return tkb_fail_nomem(err);
	size = fd < 0 ? -1 : tkb_fd_read_full(fd, token, TOKEN_LIMIT);
	if (size < 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "cannot read the bearer token in '%s'", path);
	while (size > 0 && (unsigned char)token[size - 1] <= ' ')
		size--;
	if (size > 0 && size < TOKEN_LIMIT)
		token[size] = '\0';
	if (size == 0 || size == TOKEN_LIMIT || !tkb_is_visible(token) ||
	    strlen(token) != (size_t)size)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' holds no bearer token", path);
	http->bearer = tkb_take(token);
	return 0;
}

static int read_bearer(struct tkb_http *http, struct tkb_error *err)
{
	const char *bearer = tkb_remote_url_param(http->url, "bearer");
	const char *path = tkb_remote_url_param(http->url, "bearer-file");

	if (bearer != NULL && path != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'bearer' and 'bearer-file' exclude each "
		                "other");
	if ((bearer != NULL || path != NULL) &&
	    (http->url->has_user || http->url->has_password))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a bearer token and a user exclude each other");
	if (path != NULL)
		return read_token_file(http, path, err);
	if (bearer == NULL)
		return 0;
	if (bearer[0] == '\0' || !tkb_is_visible(bearer))
		return refuse_param("bearer", "a token", err);
	http->bearer = strdup(bearer);
	return http->bearer == NULL ? tkb_fail_nomem(err) : 0;
}

static int read_client_options(const struct tkb_http *http,
                               struct tkb_http_client_options *options,
                               struct tkb_error *err)
{
	const struct tkb_remote_url *url = http->url;
	const char *netrc = tkb_remote_url_param(url, "netrc");
	const char *connections = tkb_remote_url_param(url, "connections");
	uint64_t number = 0;

	*options = (struct tkb_http_client_options){
		.url = url,
		.user = url->has_user || url->has_password ? url->user : NULL,
		.password = url->has_password ? url->password : NULL,
		.bearer = http->bearer,
		.has_netrc = netrc != NULL,
		.headers = http->headers,
		.header_count = http->header_count,
	};
	if (netrc != NULL && strcmp(netrc, "true") != 0)
		options->netrc_file = netrc;
	if (options->netrc_file != NULL && access(netrc, R_OK) != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "cannot read the netrc file '%s'", netrc);
	if (connections == NULL)
		return 0;
	if (!tkb_size_parse(connections, &number) || number == 0 ||
	    number > CONNECTIONS_LIMIT)
		return refuse_param("connections", "a number from 1 to 64",
		                    err);
	options->connections = (uint32_t)number;
	return 0;
}

/* Make the remote's URL without user, password and parameters. */
static int make_base(struct tkb_http *http, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf base = TKB_BUF_INIT(URL_LIMIT);
	const struct tkb_remote_url *url = http->url;
	int rc;

	if (url->host[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID, "the URL has no host");
	tkb_url_add_server(url, &base);
	tkb_escape(&base, url->path, "/");
	while (base.size != 0 && base.data[base.size - 1] == '/')
		base.size--;
	tkb_buf_add_byte(&base, '\0');
	rc = tkb_buf_check(&base, err);
	if (rc == 0)
		http->base = (char *)tkb_take(base.data);
	return rc;
}

int tkb_http_open(const struct tkb_remote_url *url,
                  const struct tkb_op_limits *limits, void **self_out,
                  struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_http *http = tkb_alloc_array(1, sizeof(*http));
	struct tkb_http_client_options options;
	int rc;

	(void)limits;
	if (http == NULL)
		return tkb_fail_nomem(err);
	http->url = url;
	rc = tkb_url_check_tls(url, strcmp(url->scheme, "https") == 0, "https",
	                       err);
	if (rc == 0)
		rc = read_listing_options(http, err);
	if (rc == 0)
		rc = read_headers(http, err);
	if (rc == 0)
		rc = read_bearer(http, err);
	if (rc == 0)
		rc = make_base(http, err);
	if (rc == 0)
		rc = read_client_options(http, &options, err);
	if (rc == 0)
		rc = tkb_http_client_open(&options, &http->client, err);
	if (rc == 0)
		*self_out = tkb_take(http);
	return rc;
}
