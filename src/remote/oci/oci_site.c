/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote/net/url.h"
#include "remote/oci/oci.h"
#include "text/ascii.h"

/* Reading the registry and the repository from a URL. */

enum {
	NAME_LIMIT = 255
};

static bool is_alphanumeric(char byte)
{
	return tkb_is_lower(byte) || tkb_is_digit(byte);
}

/*
 * Count the separators between letters and digits: a dot, one or two
 * underscores, or dashes.
 */
static size_t count_separators(const char *text)
{
	const size_t dashes = strspn(text, "-");

	if (dashes != 0)
		return dashes;
	if (text[0] == '.')
		return 1;
	return text[0] != '_' ? 0 : 1 + (text[1] == '_');
}

/*
 * Parts "[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*" with slashes: the specification's
 * rule.
 */
static bool is_repository(const char *name)
{
	if (strlen(name) > NAME_LIMIT || !is_alphanumeric(name[0]))
		return false;
	while (*name != '\0') {
		if (is_alphanumeric(*name)) {
			name++;
			continue;
		}
		name += *name == '/' ? 1 : count_separators(name);
		if (!is_alphanumeric(*name))
			return false;
	}
	return true;
}

static int read_base(const struct tkb_remote_url *url, struct tkb_oci *oci,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf base = TKB_BUF_INIT(TKB_OCI_URL_LIMIT);
	const bool is_hub = strcmp(url->host, "docker.io") == 0;
	const bool is_ipv6 = strchr(url->host, ':') != NULL;
	int rc;

	tkb_print(&base, is_ipv6 ? "%s://[%s]" : "%s://%s",
	          tkb_url_registry_has_tls(url) ? "https" : "http",
	          is_hub ? "registry-1.docker.io" : url->host);
	if (url->port != 0)
		tkb_print(&base, ":%u", (unsigned)url->port);
	rc = tkb_arena_copy_buf(&oci->arena, &base, &oci->base, err);
	if (rc < 0)
		return rc;
	oci->registry = is_hub ? "index.docker.io"
	                       : strstr(oci->base, "://") + strlen("://");
	return 0;
}

static int read_repository(const struct tkb_remote_url *url,
                           struct tkb_oci *oci, struct tkb_error *err)
{
	const char *path = url->path[0] == '/' ? url->path + 1 : url->path;
	const bool is_short = strcmp(url->host, "docker.io") == 0 &&
	                      strchr(path, '/') == NULL;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf name = TKB_BUF_INIT(2 * NAME_LIMIT);

	if (strchr(path, ':') != NULL || strchr(path, '@') != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' names a tag: a remote is a whole "
		                "repository, as in oci://host/team/kernels",
		                path);
	if (!is_repository(path))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' cannot be a repository's name: use "
		                "lower-case letters, digits and '._-/'",
		                path);
	tkb_print(&name, "%s%s", is_short ? "library/" : "", path);
	return tkb_arena_copy_buf(&oci->arena, &name, &oci->repository, err);
}

/*
 * Read "mount=team/other": a repository whose blobs may be mounted, if the
 * registry supports that.
 */
static int read_mount(const struct tkb_remote_url *url, struct tkb_oci *oci,
                      struct tkb_error *err)
{
	const char *name = tkb_remote_url_param(url, "mount");

	if (name != NULL && !is_repository(name))
		return tkb_url_refuse("mount", "a repository of the registry",
		                      name, err);
	oci->mount = name != NULL && strcmp(name, oci->repository) != 0 ? name
	                                                                : NULL;
	return 0;
}

int tkb_oci_site_read(const struct tkb_remote_url *url, struct tkb_oci *oci,
                      struct tkb_error *err)
{
	int rc;

	oci->url = url;
	if (url->host[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID, "the URL has no host");
	rc = tkb_url_check_tls(url, tkb_url_registry_has_tls(url), "oci", err);
	if (rc == 0)
		rc = read_base(url, oci, err);
	if (rc == 0)
		rc = read_repository(url, oci, err);
	return rc == 0 ? read_mount(url, oci, err) : rc;
}

int tkb_oci_url(const struct tkb_oci *oci, struct tkb_arena *arena,
                const char *kind, const char *name, const char **out,
                struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf url = TKB_BUF_INIT(TKB_OCI_URL_LIMIT);

	tkb_print(&url, "%s/v2/%s%s%s", oci->base, oci->repository, kind, name);
	return tkb_arena_copy_buf(arena, &url, out, err);
}

int tkb_oci_blob_url(const struct tkb_oci *oci, struct tkb_arena *arena,
                     const struct tkb_digest *digest, const char **out,
                     struct tkb_error *err)
{
	return tkb_oci_url(oci, arena,
	                   "/blobs/sha256:", tkb_digest_hex(digest).text, out,
	                   err);
}
