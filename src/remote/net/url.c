/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "remote/net/curl.h"

enum {
	URL_LIMIT = 8192,
	PARAMS_LIMIT = 64
};

struct parsed {
	struct tkb_remote_url url; /* first member: callers hold a pointer to
	                              it */
	struct tkb_arena arena;    /* owns the texts */
};

void tkb_remote_url_free(struct tkb_remote_url *url)
{
	struct parsed *parsed = (struct parsed *)url;

	if (parsed != NULL)
		tkb_arena_release(&parsed->arena);
	free(parsed);
}

static void free_at(struct parsed **parsed)
{
	tkb_remote_url_free((struct tkb_remote_url *)*parsed);
}

const char *tkb_remote_url_param(const struct tkb_remote_url *url,
                                 const char *name)
{
	for (size_t i = 0; i < url->param_count; i++) {
		if (strcmp(url->params[i].name, name) == 0)
			return url->params[i].value;
	}
	return NULL;
}

int tkb_url_refuse(const char *name, const char *wanted, const char *value,
                   struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "'%s' wants %s, not '%.80s'",
	                name, wanted, value);
}

int tkb_url_choice(const struct tkb_remote_url *url, const char *name,
                   bool *in_out, struct tkb_error *err)
{
	const char *value = tkb_remote_url_param(url, name);
	const bool is_true = value != NULL && strcmp(value, "true") == 0;

	if (value == NULL)
		return 0;
	if (!is_true && strcmp(value, "false") != 0)
		return tkb_url_refuse(name, "'true' or 'false'", value, err);
	*in_out = is_true;
	return 0;
}

/* The first parameter that is for TLS; NULL: none. */
static const char *find_tls_param(const struct tkb_remote_url *url)
{
	static const char *const names[] = { "cafile", "cert", "key",
		                             "server-name", "verify" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		if (tkb_remote_url_param(url, names[i]) != NULL)
			return names[i];
	}
	return NULL;
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
	       (tkb_begins_with(host, "127.") &&
	        strspn(host, "0123456789.") == strlen(host));
}

bool tkb_url_registry_has_tls(const struct tkb_remote_url *url)
{
	return strcmp(url->scheme, "oci+http") != 0 &&
	       (find_tls_param(url) != NULL || !is_loopback(url->host));
}

bool tkb_url_asks_authorities(const struct tkb_remote_url *url)
{
	static const char *const schemes[] = { "https", "rediss", "s3" };
	const char *verify = tkb_remote_url_param(url, "verify");

	if (verify != NULL && strcmp(verify, "false") == 0)
		return false;
	return tkb_is_among(url->scheme, schemes, TKB_COUNT_OF(schemes)) ||
	       (strcmp(url->scheme, "oci") == 0 &&
	        tkb_url_registry_has_tls(url));
}

int tkb_url_check_tls(const struct tkb_remote_url *url, bool has_tls,
                      const char *tls_scheme, struct tkb_error *err)
{
	const char *name = has_tls ? NULL : find_tls_param(url);
	bool is_verified = true;

	if (name != NULL)
		return tkb_fail(err, TKB_ERR_INVALID, "'%s' is for TLS: %s://",
		                name, tls_scheme);
	if (tkb_remote_url_param(url, "key") != NULL &&
	    tkb_remote_url_param(url, "cert") == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a key without a certificate");
	return tkb_url_choice(url, "verify", &is_verified, err);
}

const char *tkb_remote_url_warning(const struct tkb_remote_url *url)
{
	const char *verify = tkb_remote_url_param(url, "verify");

	if (verify == NULL || strcmp(verify, "false") != 0)
		return NULL;
	return "verify=false: its certificate is not checked, and anybody on "
	       "the way to it can read and change everything";
}

static int refuse_url(struct tkb_error *err, const char *what)
{
	return tkb_fail(err, TKB_ERR_INVALID, "%s", what);
}

/* Keep `size` bytes of the URL with their %xx decoded. */
static int decode(struct parsed *parsed, const char *start, size_t size,
                  const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_curl_free_at) char *text = NULL;
	int decoded_size = 0;

	if (size == 0)
		return 0; /* libcurl takes a size of 0 for strlen() */
	text = curl_easy_unescape(NULL, start, (int)size, &decoded_size);
	if (text != NULL)
		*out = tkb_arena_string(
			&parsed->arena,
			(struct tkb_bytes){ text, (size_t)decoded_size });
	return text == NULL || *out == NULL ? tkb_fail_nomem(err) : 0;
}

/* The text of a part of the URL, if it has that part. */
static char *find_part(CURLU *whole, CURLUPart part)
{
	char *text = NULL;

	return curl_url_get(whole, part, &text, 0) == CURLUE_OK ? text : NULL;
}

static int decode_part(struct parsed *parsed, CURLU *whole, CURLUPart part,
                       const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_curl_free_at) char *text = find_part(whole, part);

	return text == NULL ? 0 : decode(parsed, text, strlen(text), out, err);
}

/* libcurl's messages do not quote the URL, which may have secrets. */
static int explain_code(CURLUcode code, struct tkb_error *err)
{
	switch (code) {
	case CURLUE_OUT_OF_MEMORY:
		return tkb_fail_nomem(err);
	case CURLUE_BAD_FILE_URL:
		return refuse_url(err, "a file URL names no host: file:///dir");
	case CURLUE_BAD_HOSTNAME:
		return refuse_url(err,
		                  "the URL's host is not a valid name; in a "
		                  "user or a password, write '@' as %40");
	case CURLUE_BAD_PORT_NUMBER:
		return refuse_url(err, "the URL's port is not a number from "
		                       "1 to 65535");
	case CURLUE_BAD_SCHEME:
		return refuse_url(err, "the URL has no scheme");
	default:
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the URL cannot be read: %s",
		                curl_url_strerror(code));
	}
}

static int read_login(struct parsed *parsed, CURLU *whole,
                      struct tkb_error *err)
{
	struct tkb_remote_url *url = &parsed->url;
	TKB_AUTO(tkb_curl_free_at)
	char *password = find_part(whole, CURLUPART_PASSWORD);
	TKB_AUTO(tkb_curl_free_at)
	char *port = find_part(whole, CURLUPART_PORT);
	int rc;

	url->has_password = password != NULL;
	url->port = port == NULL ? 0 : (uint32_t)strtoul(port, NULL, 10);
	if (port != NULL && url->port == 0)
		return explain_code(CURLUE_BAD_PORT_NUMBER, err);
	rc = decode_part(parsed, whole, CURLUPART_USER, &url->user, err);
	if (rc == 0 && password != NULL)
		rc = decode(parsed, password, strlen(password), &url->password,
		            err);
	url->has_user = url->user[0] != '\0';
	return rc;
}

static int read_param(struct parsed *parsed, const char *text, size_t size,
                      struct tkb_param *params, struct tkb_error *err)
{
	const char *equals = memchr(text, '=', size);
	const size_t name_size =
		equals == NULL ? size : (size_t)(equals - text);
	struct tkb_param param = { .name = "", .value = "" };
	int rc;

	if (size == 0)
		return 0;
	if (parsed->url.param_count == PARAMS_LIMIT)
		return refuse_url(err, "the URL has too many parameters");
	rc = decode(parsed, text, name_size, &param.name, err);
	if (rc == 0 && equals != NULL)
		rc = decode(parsed, equals + 1, size - name_size - 1,
		            &param.value, err);
	if (rc < 0)
		return rc;
	if (strcmp(param.name, "header") != 0 &&
	    tkb_remote_url_param(&parsed->url, param.name) != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the URL has parameter '%s' twice", param.name);
	params[parsed->url.param_count++] = param;
	return 0;
}

static int read_query(struct parsed *parsed, const char *query,
                      struct tkb_error *err)
{
	struct tkb_param *params =
		tkb_arena_alloc(&parsed->arena, PARAMS_LIMIT, sizeof(*params));
	int rc = 0;

	if (params == NULL)
		return tkb_fail_nomem(err);
	parsed->url.params = params;
	while (*query != '\0' && rc == 0) {
		const size_t size = strcspn(query, "&");

		rc = read_param(parsed, query, size, params, err);
		query += size + (query[size] == '&');
	}
	return rc;
}

void tkb_url_add_server(const struct tkb_remote_url *url, struct tkb_buf *out)
{
	const bool is_ipv6 = strchr(url->host, ':') != NULL;

	tkb_print(out, is_ipv6 ? "%s://[%s]" : "%s://%s", url->scheme,
	          url->host);
	if (url->port != 0)
		tkb_print(out, ":%u", (unsigned)url->port);
}

/* Make the URL that may be shown: without user, password and parameters. */
static int make_shown_url(struct parsed *parsed, const char *text,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf name = TKB_BUF_INIT(URL_LIMIT);

	if (strstr(text, "://") == NULL) {
		parsed->url.name = parsed->url.path;
		return 0;
	}
	tkb_url_add_server(&parsed->url, &name);
	tkb_buf_add_text(&name, parsed->url.path);
	return tkb_arena_copy_buf(&parsed->arena, &name, &parsed->url.name,
	                          err);
}

/* Refuse characters that libcurl accepts. */
static int check_characters(const char *text, struct tkb_error *err)
{
	TKB_AUTO(tkb_curl_free_at) char *decoded = NULL;
	int size = 0;

	if (strchr(text, '#') != NULL)
		return refuse_url(err,
		                  "a '#' in a remote's URL is written as %23");
	for (const char *at = strchr(text, '%'); at != NULL;
	     at = strchr(at + 1, '%')) {
		if (tkb_hex_value(at[1]) < 0 || tkb_hex_value(at[2]) < 0)
			return refuse_url(err, "a '%' in the URL wants two "
			                       "hexadecimal digits");
	}
	decoded = curl_easy_unescape(NULL, text, 0, &size);
	if (decoded == NULL)
		return tkb_fail_nomem(err);
	if (strlen(decoded) != (size_t)size || !tkb_utf8_is_shown(decoded))
		return refuse_url(err, "the URL has a control character, or "
		                       "is not UTF-8");
	return 0;
}

/*
 * Find the host as written in the URL. libcurl's may differ: it takes a bucket
 * named 1234 for the address 0.0.4.210.
 */
static struct tkb_bytes find_host(const char *authority)
{
	const char *at = memchr(authority, '@', strcspn(authority, "/?"));
	const char *host = at == NULL ? authority : at + 1;

	if (*host == '[')
		return (struct tkb_bytes){ host + 1, strcspn(host, "]/?") - 1 };
	return (struct tkb_bytes){ host, strcspn(host, ":/?") };
}

/*
 * Parse the URL with libcurl. It refuses a URL without a host, so such a URL
 * gets one.
 */
static int split_url(CURLU *whole, const char *text, struct tkb_bytes host,
                     struct tkb_error *err)
{
	char given[URL_LIMIT + sizeof("localhost")];
	const char *rest = host.data;
	CURLUcode code;

	(void)snprintf(given, sizeof(given), "%.*s%s%s", (int)(rest - text),
	               text, host.size == 0 ? "localhost" : "", rest);
	code = curl_url_set(whole, CURLUPART_URL, given,
	                    CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS |
	                            CURLU_ALLOW_SPACE);
	return code == CURLUE_OK ? 0 : explain_code(code, err);
}

/* `authority` is what follows "scheme://" in the text. */
static int read_url(struct parsed *parsed, const char *text,
                    const char *authority, struct tkb_error *err)
{
	TKB_AUTO(tkb_curl_url_cleanup_at) CURLU *whole = curl_url();
	TKB_AUTO(tkb_curl_free_at) char *query = NULL;
	const struct tkb_bytes host = find_host(authority);
	struct tkb_remote_url *url = &parsed->url;
	int rc;

	if (whole == NULL)
		return tkb_fail_nomem(err);
	rc = check_characters(text, err);
	if (rc == 0)
		rc = split_url(whole, text, host, err);
	if (rc == 0)
		rc = decode_part(parsed, whole, CURLUPART_SCHEME, &url->scheme,
		                 err);
	if (rc == 0)
		rc = read_login(parsed, whole, err);
	if (rc == 0)
		rc = decode(parsed, host.data, host.size, &url->host, err);
	/* For a URL without a path, libcurl returns "/". */
	if (rc == 0 && authority[strcspn(authority, "/?")] == '/')
		rc = decode_part(parsed, whole, CURLUPART_PATH, &url->path,
		                 err);
	query = rc == 0 ? find_part(whole, CURLUPART_QUERY) : NULL;
	return query == NULL ? rc : read_query(parsed, query, err);
}

/* Is it a URL with a slash too few, as in "http:/host"? */
static bool lacks_slash(const char *text)
{
	const size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+"
	                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return size > 1 && text[size] == ':' && text[size + 1] == '/';
}

/* Read a path, which may be followed by a question mark and parameters. */
static int read_url_path(struct parsed *parsed, const char *text,
                         struct tkb_error *err)
{
	const size_t size = strcspn(text, "?");
	int rc;

	parsed->url.scheme = "file";
	parsed->url.path = tkb_arena_string(&parsed->arena,
	                                    (struct tkb_bytes){ text, size });
	if (parsed->url.path == NULL)
		return tkb_fail_nomem(err);
	if (size == 0)
		return refuse_url(err, "the remote's path is empty");
	if (lacks_slash(text))
		return refuse_url(err, "a URL has '://' after its scheme");
	if (text[size] == '\0')
		return 0;
	rc = check_characters(text + size, err);
	return rc < 0 ? rc : read_query(parsed, text + size + 1, err);
}

static int parse_url(struct parsed *parsed, const char *text,
                     struct tkb_error *err)
{
	const char *colon = strstr(text, "://");

	if (strlen(text) > URL_LIMIT)
		return refuse_url(err, "the URL is too long");
	return colon == NULL ? read_url_path(parsed, text, err)
	                     : read_url(parsed, text, colon + 3, err);
}

int tkb_remote_url_parse(const char *text, struct tkb_remote_url **out,
                         struct tkb_error *err)
{
	TKB_AUTO(free_at)
	struct parsed *parsed = tkb_alloc_array(1, sizeof(*parsed));
	int rc;

	if (parsed == NULL)
		return tkb_fail_nomem(err);
	parsed->url = (struct tkb_remote_url){ .scheme = "",
		                               .user = "",
		                               .password = "",
		                               .host = "",
		                               .path = "",
		                               .name = "" };
	rc = parse_url(parsed, text, err);
	if (rc == 0)
		rc = make_shown_url(parsed, text, err);
	if (rc < 0)
		return rc;
	*out = &tkb_take(parsed)->url;
	return 0;
}
