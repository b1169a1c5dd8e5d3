/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/url.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/utf8.h"

enum {
	URL_LIMIT = 8192,
	PARAMS_LIMIT = 64,
	PORT_LIMIT = 65535
};

struct parsed {
	struct tkb_remote_url url; /* first: what callers have */
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

int tkb_url_check_tls(const struct tkb_remote_url *url, bool has_tls,
                      const char *tls_scheme, struct tkb_error *err)
{
	static const char *const names[] = { "cafile", "cert", "key",
		                             "server-name", "verify" };
	bool is_verified = true;

	for (size_t i = 0; i < TKB_COUNT_OF(names) && !has_tls; i++) {
		if (tkb_remote_url_param(url, names[i]) != NULL)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' is for TLS: %s://", names[i],
			                tls_scheme);
	}
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

/* A part of the text. */
struct part {
	const char *start;
	size_t size;
};

static struct part url_part(const char *start, const char *end)
{
	return (struct part){ start, (size_t)(end - start) };
}

/* The first byte of `part` that is in `set`, or its end. */
static const char *find_any(struct part part, const char *set)
{
	const char *at = part.start;
	const char *end = part.start + part.size;

	while (at != end && strchr(set, *at) == NULL)
		at++;
	return at;
}

static int refuse_url(struct tkb_error *err, const char *what)
{
	return tkb_fail(err, TKB_ERR_INVALID, "%s", what);
}

static bool is_allowed(struct tkb_bytes text)
{
	const unsigned char *bytes = text.data;

	for (size_t i = 0; i < text.size; i++) {
		if (bytes[i] < 0x20 || bytes[i] == 0x7f)
			return false;
	}
	return tkb_utf8_is_valid(text);
}

/* Keep `part` with its %xx decoded. */
static int decode_part(struct parsed *parsed, struct part part,
                       const char **out, struct tkb_error *err)
{
	char *text = tkb_arena_string(
		&parsed->arena, (struct tkb_bytes){ part.start, part.size });
	size_t used = 0;

	if (text == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < part.size; i++) {
		int value = (unsigned char)part.start[i];

		if (value == '%') {
			if (part.size - i < 3 ||
			    tkb_hex_value(part.start[i + 1]) < 0 ||
			    tkb_hex_value(part.start[i + 2]) < 0)
				return refuse_url(err,
				                  "a '%' in the URL wants two "
				                  "hexadecimal digits");
			value = tkb_hex_value(part.start[i + 1]) * 16 +
			        tkb_hex_value(part.start[i + 2]);
			i += 2;
		}
		text[used++] = (char)value;
	}
	text[used] = '\0';
	if (!is_allowed((struct tkb_bytes){ text, used }))
		return refuse_url(err,
		                  "the URL holds a control character, or no "
		                  "UTF-8");
	*out = text;
	return 0;
}

static int read_scheme(struct parsed *parsed, struct part part,
                       struct tkb_error *err)
{
	char *scheme = tkb_arena_string(
		&parsed->arena, (struct tkb_bytes){ part.start, part.size });

	if (scheme == NULL)
		return tkb_fail_nomem(err);
	for (char *at = scheme; *at != '\0'; at++) {
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
		if ((*at < 'a' || *at > 'z') && *at != '+' && *at != '-' &&
		    *at != '.' && (*at < '0' || *at > '9'))
			return refuse_url(err, "the URL has no scheme");
	}
	parsed->url.scheme = scheme;
	return scheme[0] == '\0' ? refuse_url(err, "the URL has no scheme") : 0;
}

static int read_user(struct parsed *parsed, struct part part,
                     struct tkb_error *err)
{
	struct tkb_remote_url *url = &parsed->url;
	const char *end = part.start + part.size;
	const char *colon = find_any(part, ":");
	int rc;

	url->has_user = colon != part.start;
	rc = decode_part(parsed, url_part(part.start, colon), &url->user, err);
	if (rc < 0 || colon == end)
		return rc;
	url->has_password = true;
	return decode_part(parsed, url_part(colon + 1, end), &url->password,
	                   err);
}

static int read_port(struct parsed *parsed, struct part part,
                     struct tkb_error *err)
{
	uint32_t port = 0;

	for (size_t i = 0; i < part.size; i++) {
		if (part.start[i] < '0' || part.start[i] > '9' || i == 5)
			return refuse_url(err, "the URL's port is no number");
		port = port * 10 + (uint32_t)(part.start[i] - '0');
	}
	if (part.size != 0 && (port == 0 || port > PORT_LIMIT))
		return refuse_url(err, "the URL's port is out of range");
	parsed->url.port = port;
	return 0;
}

/* "host", "host:port", "[::1]:port". */
static int read_host(struct parsed *parsed, struct part part,
                     struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *host_end = find_any(part, ":");
	struct part host = url_part(part.start, host_end);
	int rc;

	if (part.size != 0 && part.start[0] == '[') {
		host_end = find_any(part, "]");
		if (host_end == end)
			return refuse_url(err, "the URL's host lacks a ']'");
		host = url_part(part.start + 1, host_end);
		host_end++;
	}
	if (host_end != end && *host_end != ':')
		return refuse_url(err,
		                  "there is something behind the URL's host");
	rc = decode_part(parsed, host, &parsed->url.host, err);
	if (rc < 0 || host_end == end)
		return rc;
	return read_port(parsed, url_part(host_end + 1, end), err);
}

static int read_authority(struct parsed *parsed, struct part part,
                          struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *at = NULL;
	int rc;

	for (const char *here = part.start; here != end; here++) {
		if (*here == '@')
			at = here; /* the last one: a password may hold others */
	}
	if (at == NULL)
		return read_host(parsed, part, err);
	rc = read_user(parsed, url_part(part.start, at), err);
	if (rc < 0)
		return rc;
	return read_host(parsed, url_part(at + 1, end), err);
}

static int read_param(struct parsed *parsed, struct part part,
                      struct tkb_param *params, struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *equals = find_any(part, "=");
	struct tkb_param param = { .value = "" };
	int rc;

	if (part.size == 0)
		return 0;
	if (parsed->url.param_count == PARAMS_LIMIT)
		return refuse_url(err, "the URL has too many parameters");
	rc = decode_part(parsed, url_part(part.start, equals), &param.name,
	                 err);
	if (rc == 0 && equals != end)
		rc = decode_part(parsed, url_part(equals + 1, end),
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

static int read_query(struct parsed *parsed, struct part part,
                      struct tkb_error *err)
{
	struct tkb_param *params =
		tkb_arena_alloc(&parsed->arena, PARAMS_LIMIT, sizeof(*params));
	const char *end = part.start + part.size;
	const char *at = part.start;
	int rc;

	if (params == NULL)
		return tkb_fail_nomem(err);
	parsed->url.params = params;
	for (;;) {
		const char *stop = find_any(url_part(at, end), "&");

		rc = read_param(parsed, url_part(at, stop), params, err);
		if (rc < 0 || stop == end)
			return rc;
		at = stop + 1;
	}
}

void tkb_url_add_server(const struct tkb_remote_url *url, struct tkb_buf *out)
{
	const bool is_ipv6 = strchr(url->host, ':') != NULL;

	tkb_buf_add_text(out, url->scheme);
	tkb_buf_add_text(out, is_ipv6 ? "://[" : "://");
	tkb_buf_add_text(out, url->host);
	tkb_buf_add_text(out, is_ipv6 ? "]" : "");
	if (url->port != 0) {
		tkb_buf_add_byte(out, ':');
		tkb_buf_add_number(out, url->port);
	}
}

/* The URL as it may be shown: without user, password and parameters. */
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

/* Read what follows "scheme://". */
static int read_rest(struct parsed *parsed, struct part part,
                     struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *slash = find_any(part, "/?#");
	const char *query;
	int rc;

	rc = read_authority(parsed, url_part(part.start, slash), err);
	if (rc < 0)
		return rc;
	query = find_any(url_part(slash, end), "?#");
	rc = decode_part(parsed, url_part(slash, query), &parsed->url.path,
	                 err);
	if (rc < 0)
		return rc;
	if (query == end)
		return 0;
	if (*query == '#' || find_any(url_part(query, end), "#") != end)
		return refuse_url(err, "a remote's URL has no '#'");
	return read_query(parsed, url_part(query + 1, end), err);
}

/* Read a path, which may be followed by a question mark and parameters. */
static int read_url_path(struct parsed *parsed, struct part part,
                         struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *query = find_any(part, "?");

	parsed->url.scheme = "file";
	parsed->url.path = tkb_arena_string(
		&parsed->arena,
		(struct tkb_bytes){ part.start, (size_t)(query - part.start) });
	if (parsed->url.path == NULL)
		return tkb_fail_nomem(err);
	if (query == part.start)
		return refuse_url(err, "the remote's path is empty");
	return query == end ? 0
	                    : read_query(parsed, url_part(query + 1, end), err);
}

static int parse_url(struct parsed *parsed, const char *text,
                     struct tkb_error *err)
{
	const char *end = text + strlen(text);
	const char *colon = strstr(text, "://");
	int rc;

	if (end - text > URL_LIMIT)
		return refuse_url(err, "the URL is too long");
	if (colon == NULL)
		return read_url_path(parsed, url_part(text, end), err);
	rc = read_scheme(parsed, url_part(text, colon), err);
	if (rc < 0)
		return rc;
	return read_rest(parsed, url_part(colon + 3, end), err);
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
