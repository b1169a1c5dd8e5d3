/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote/s3/s3.h"
#include "remote/net/url.h"
#include "text/ascii.h"

/* Finding a bucket from the URL, the environment and the settings. */

enum {
	PATH_LIMIT = 4096,
	NAME_LIMIT = 255,
	REGION_LIMIT = 64,
	KEY_LIMIT = 1024,              /* limit of S3 */
	PREFIX_LIMIT = KEY_LIMIT - 300 /* "ref/<name>/<sha256>" takes about 270
		                   bytes */
};

void tkb_s3_site_release(struct tkb_s3_site *site)
{
	tkb_arena_release(&site->arena);
	*site = (struct tkb_s3_site){ 0 };
}

static bool is_site_name(const char *text, const char *others, size_t limit)
{
	const size_t size = strlen(text);

	for (size_t i = 0; i < size; i++) {
		const char byte = text[i];

		if ((byte < 'a' || byte > 'z') && (byte < 'A' || byte > 'Z') &&
		    (byte < '0' || byte > '9') && strchr(others, byte) == NULL)
			return false;
	}
	return size != 0 && size <= limit && text[0] != '.';
}

static int read_bucket(const struct tkb_remote_url *url,
                       struct tkb_s3_site *site, struct tkb_error *err)
{
	site->bucket = url->host;
	if (url->has_user || url->has_password)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "an s3 URL holds no credentials: they are in "
		                "the environment or in ~/.aws/credentials");
	if (url->port != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "an s3 URL names a bucket, which has no port: "
		                "the server goes into 'endpoint'");
	if (!is_site_name(url->host, "._-", NAME_LIMIT))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' cannot be a bucket's name", url->host);
	return 0;
}

/* Refuse "." and "..": servers and proxies rewrite such paths differently. */
static bool has_dots(const char *path)
{
	while (*path != '\0') {
		const size_t size = strcspn(path, "/");

		if ((size == 1 && path[0] == '.') ||
		    (size == 2 && tkb_begins_with(path, "..")))
			return true;
		path += size;
		path += *path == '/';
	}
	return false;
}

/* Read the prefix: "/team/kernels/" becomes "team/kernels/". */
static int read_prefix(const struct tkb_remote_url *url,
                       struct tkb_s3_site *site, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf prefix = TKB_BUF_INIT(PREFIX_LIMIT + 1);
	const char *path = url->path + strspn(url->path, "/");
	size_t size = strlen(path);

	while (size != 0 && path[size - 1] == '/')
		size--;
	if (size > PREFIX_LIMIT || has_dots(path))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the path is longer than %d bytes, or has a "
		                "part that is '.' or '..'",
		                PREFIX_LIMIT);
	tkb_buf_add(&prefix, (struct tkb_bytes){ path, size });
	if (size != 0)
		tkb_buf_add_byte(&prefix, '/');
	return tkb_arena_copy_buf(&site->arena, &prefix, &site->prefix, err);
}

static int read_region(const struct tkb_remote_url *url,
                       struct tkb_s3_site *site, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf configured = TKB_BUF_INIT(PATH_LIMIT);
	const char *region = tkb_remote_url_param(url, "region");
	int rc = 0;

	if (region == NULL)
		region = tkb_environment("AWS_REGION");
	if (region == NULL)
		region = tkb_environment("AWS_DEFAULT_REGION");
	if (region == NULL)
		rc = tkb_s3_setting(TKB_S3_CONFIG, tkb_s3_profile(url),
		                    "region", &configured, err);
	if (rc < 0)
		return rc;
	if (region == NULL)
		region = configured.size == 0 ? "us-east-1"
		                              : (const char *)configured.data;
	if (!is_site_name(region, "-", REGION_LIMIT))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' cannot be a region's name", region);
	return tkb_arena_copy(&site->arena, tkb_text(region), &site->region,
	                      err);
}

static int fail_endpoint(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID,
	                "the endpoint wants https://host or http://host:port, "
	                "and nothing else");
}

/* Add the host in lower case: it must be signed exactly as it is sent. */
static void add_host(struct tkb_buf *out, const char *host)
{
	const bool is_ipv6 = strchr(host, ':') != NULL;

	if (is_ipv6)
		tkb_buf_add_byte(out, '[');
	for (; *host != '\0'; host++)
		tkb_buf_add_byte(out, tkb_is_upper(*host)
		                              ? (char)(*host - 'A' + 'a')
		                              : *host);
	if (is_ipv6)
		tkb_buf_add_byte(out, ']');
}

/* Make the value of the header Host: the scheme's default port is left out. */
static int make_host(struct tkb_s3_site *site,
                     const struct tkb_remote_url *endpoint, bool has_path_style,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf host = TKB_BUF_INIT(PATH_LIMIT);
	const bool is_tls = strcmp(endpoint->scheme, "https") == 0;

	if (!has_path_style)
		tkb_print(&host, "%s.", site->bucket);
	add_host(&host, endpoint->host);
	if (endpoint->port != 0 && endpoint->port != (is_tls ? 443 : 80))
		tkb_print(&host, ":%u", (unsigned)endpoint->port);
	return tkb_arena_copy_buf(&site->arena, &host, &site->host, err);
}

static int use_endpoint(struct tkb_s3_site *site, const char *text,
                        bool has_path_style, struct tkb_error *err)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf base = TKB_BUF_INIT(PATH_LIMIT);
	struct tkb_error ignored;
	int rc;

	rc = tkb_remote_url_parse(text, &url, &ignored);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || url->has_user || url->has_password ||
	    url->param_count != 0 ||
	    (strcmp(url->scheme, "http") != 0 &&
	     strcmp(url->scheme, "https") != 0) ||
	    !is_site_name(url->host, ".-_:", NAME_LIMIT) ||
	    url->path[strspn(url->path, "/")] != '\0')
		return fail_endpoint(err);
	rc = make_host(site, url, has_path_style, err);
	if (rc < 0)
		return rc;
	tkb_print(&base, "%s://%s", url->scheme, site->host);
	return tkb_arena_copy_buf(&site->arena, &base, &site->base, err);
}

static const char *find_endpoint(const struct tkb_remote_url *url)
{
	const char *endpoint = tkb_remote_url_param(url, "endpoint");

	if (endpoint == NULL)
		endpoint = tkb_environment("AWS_ENDPOINT_URL_S3");
	if (endpoint == NULL)
		endpoint = tkb_environment("AWS_ENDPOINT_URL");
	return endpoint;
}

/*
 * At Amazon, the bucket is part of the host's name, except for buckets with a
 * dot, which the certificate for *.s3 does not cover. For other servers, DNS
 * may not have such names.
 */
static int read_endpoint(const struct tkb_remote_url *url,
                         struct tkb_s3_site *site, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	const char *endpoint = find_endpoint(url);
	bool has_path_style =
		endpoint != NULL || strchr(site->bucket, '.') != NULL;
	char own[REGION_LIMIT + 64];
	int rc;

	rc = tkb_url_choice(url, "path-style", &has_path_style, err);
	if (rc < 0)
		return rc;
	if (has_path_style)
		tkb_print(&path, "/%s", site->bucket);
	rc = tkb_arena_copy_buf(&site->arena, &path, &site->path, err);
	if (rc < 0)
		return rc;
	(void)snprintf(own, sizeof(own), "https://s3.%s.amazonaws.com%s",
	               site->region,
	               tkb_begins_with(site->region, "cn-") ? ".cn" : "");
	return use_endpoint(site, endpoint != NULL ? endpoint : own,
	                    has_path_style, err);
}

int tkb_s3_site_read(const struct tkb_remote_url *url, struct tkb_s3_site *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_s3_site_release) struct tkb_s3_site site = { 0 };
	int rc;

	rc = read_bucket(url, &site, err);
	if (rc == 0)
		rc = read_prefix(url, &site, err);
	if (rc == 0)
		rc = read_region(url, &site, err);
	if (rc == 0)
		rc = read_endpoint(url, &site, err);
	if (rc < 0)
		return rc;
	*out = site;
	site = (struct tkb_s3_site){ 0 };
	return 0;
}
