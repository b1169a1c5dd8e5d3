/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/url.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/buf.h"
#include "base/utf8.h"

enum {
	URL_LIMIT = 8192,
	PARAMS_LIMIT = 64,
	PORT_LIMIT = 65535
};

void tkb_url_release(struct tkb_url *url)
{
	tkb_arena_release(&url->arena);
	*url = (struct tkb_url){ 0 };
}

const char *tkb_remote_url_param(const struct tkb_remote_url *place,
                                 const char *name)
{
	for (size_t i = 0; i < place->param_count; i++) {
		if (strcmp(place->params[i].name, name) == 0)
			return place->params[i].value;
	}
	return NULL;
}

const char *tkb_remote_url_warning(const struct tkb_remote_url *place)
{
	const char *verify = tkb_remote_url_param(place, "verify");

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

static struct part part_of(const char *start, const char *end)
{
	return (struct part){ start, (size_t)(end - start) };
}

/* Where in `part` one of `set` stands first; its end if none does. */
static const char *find_any(struct part part, const char *set)
{
	const char *at = part.start;
	const char *end = part.start + part.size;

	while (at != end && strchr(set, *at) == NULL)
		at++;
	return at;
}

static int refuse(struct tkb_error *err, const char *what)
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
static int decode(struct tkb_url *url, struct part part, const char **out,
                  struct tkb_error *err)
{
	char *text = tkb_arena_string(
		&url->arena, (struct tkb_bytes){ part.start, part.size });
	size_t used = 0;

	if (text == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < part.size; i++) {
		int value = (unsigned char)part.start[i];

		if (value == '%') {
			if (part.size - i < 3 ||
			    tkb_hex_value(part.start[i + 1]) < 0 ||
			    tkb_hex_value(part.start[i + 2]) < 0)
				return refuse(err, "a '%' in the URL wants two "
				                   "hexadecimal digits");
			value = tkb_hex_value(part.start[i + 1]) * 16 +
			        tkb_hex_value(part.start[i + 2]);
			i += 2;
		}
		text[used++] = (char)value;
	}
	text[used] = '\0';
	if (!is_allowed((struct tkb_bytes){ text, used }))
		return refuse(err, "the URL holds a control character, or no "
		                   "UTF-8");
	*out = text;
	return 0;
}

static int read_scheme(struct tkb_url *url, struct part part,
                       struct tkb_error *err)
{
	char *scheme = tkb_arena_string(
		&url->arena, (struct tkb_bytes){ part.start, part.size });

	if (scheme == NULL)
		return tkb_fail_nomem(err);
	for (char *at = scheme; *at != '\0'; at++) {
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
		if ((*at < 'a' || *at > 'z') && *at != '+' && *at != '-' &&
		    *at != '.' && (*at < '0' || *at > '9'))
			return refuse(err, "the URL has no scheme");
	}
	url->place.scheme = scheme;
	return scheme[0] == '\0' ? refuse(err, "the URL has no scheme") : 0;
}

static int read_user(struct tkb_url *url, struct part part,
                     struct tkb_error *err)
{
	struct tkb_remote_url *place = &url->place;
	const char *end = part.start + part.size;
	const char *colon = find_any(part, ":");
	int rc;

	place->has_user = colon != part.start;
	rc = decode(url, part_of(part.start, colon), &place->user, err);
	if (rc < 0 || colon == end)
		return rc;
	place->has_password = true;
	return decode(url, part_of(colon + 1, end), &place->password, err);
}

static int read_port(struct tkb_url *url, struct part part,
                     struct tkb_error *err)
{
	uint32_t port = 0;

	for (size_t i = 0; i < part.size; i++) {
		if (part.start[i] < '0' || part.start[i] > '9' || i == 5)
			return refuse(err, "the URL's port is no number");
		port = port * 10 + (uint32_t)(part.start[i] - '0');
	}
	if (part.size != 0 && (port == 0 || port > PORT_LIMIT))
		return refuse(err, "the URL's port is out of range");
	url->place.port = port;
	return 0;
}

/* "host", "host:port", "[::1]:port". */
static int read_host(struct tkb_url *url, struct part part,
                     struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *host_end = find_any(part, ":");
	struct part host = part_of(part.start, host_end);
	int rc;

	if (part.size != 0 && part.start[0] == '[') {
		host_end = find_any(part, "]");
		if (host_end == end)
			return refuse(err, "the URL's host lacks a ']'");
		host = part_of(part.start + 1, host_end);
		host_end++;
	}
	if (host_end != end && *host_end != ':')
		return refuse(err, "there is something behind the URL's host");
	rc = decode(url, host, &url->place.host, err);
	if (rc < 0 || host_end == end)
		return rc;
	return read_port(url, part_of(host_end + 1, end), err);
}

static int read_authority(struct tkb_url *url, struct part part,
                          struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *at = NULL;
	int rc;

	for (const char *here = part.start; here != end; here++) {
		if (*here == '@')
			at = here; /* a password may hold one, unescaped */
	}
	if (at == NULL)
		return read_host(url, part, err);
	rc = read_user(url, part_of(part.start, at), err);
	if (rc < 0)
		return rc;
	return read_host(url, part_of(at + 1, end), err);
}

static int read_param(struct tkb_url *url, struct part part,
                      struct tkb_param *params, struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *equals = find_any(part, "=");
	struct tkb_param param = { .value = "" };
	int rc;

	if (part.size == 0)
		return 0;
	if (url->place.param_count == PARAMS_LIMIT)
		return refuse(err, "the URL has too many parameters");
	rc = decode(url, part_of(part.start, equals), &param.name, err);
	if (rc == 0 && equals != end)
		rc = decode(url, part_of(equals + 1, end), &param.value, err);
	if (rc < 0)
		return rc;
	if (strcmp(param.name, "header") != 0 &&
	    tkb_remote_url_param(&url->place, param.name) != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the URL has parameter '%s' twice", param.name);
	params[url->place.param_count++] = param;
	return 0;
}

static int read_query(struct tkb_url *url, struct part part,
                      struct tkb_error *err)
{
	struct tkb_param *params =
		tkb_arena_alloc(&url->arena, PARAMS_LIMIT, sizeof(*params));
	const char *end = part.start + part.size;
	const char *at = part.start;
	int rc;

	if (params == NULL)
		return tkb_fail_nomem(err);
	url->place.params = params;
	for (;;) {
		const char *stop = find_any(part_of(at, end), "&");

		rc = read_param(url, part_of(at, stop), params, err);
		if (rc < 0 || stop == end)
			return rc;
		at = stop + 1;
	}
}

/* The URL as it may be shown: without user, password and parameters. */
static int make_name(struct tkb_url *url, const char *text,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf name = TKB_BUF_INIT(URL_LIMIT);
	const struct tkb_remote_url *place = &url->place;
	const bool is_ipv6 = strchr(place->host, ':') != NULL;
	int rc;

	if (strstr(text, "://") == NULL) {
		url->place.name = place->path;
		return 0;
	}
	tkb_buf_add_text(&name, place->scheme);
	tkb_buf_add_text(&name, "://");
	tkb_buf_add_text(&name, is_ipv6 ? "[" : "");
	tkb_buf_add_text(&name, place->host);
	tkb_buf_add_text(&name, is_ipv6 ? "]" : "");
	if (place->port != 0) {
		tkb_buf_add_byte(&name, ':');
		tkb_buf_add_number(&name, place->port);
	}
	tkb_buf_add_text(&name, place->path);
	rc = tkb_buf_check(&name, err);
	if (rc < 0)
		return rc;
	url->place.name = tkb_arena_string(&url->arena, tkb_buf_bytes(&name));
	return url->place.name == NULL ? tkb_fail_nomem(err) : 0;
}

/* What stands behind "scheme://". */
static int read_rest(struct tkb_url *url, struct part part,
                     struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *slash = find_any(part, "/?#");
	const char *query;
	int rc;

	rc = read_authority(url, part_of(part.start, slash), err);
	if (rc < 0)
		return rc;
	query = find_any(part_of(slash, end), "?#");
	rc = decode(url, part_of(slash, query), &url->place.path, err);
	if (rc < 0)
		return rc;
	if (query == end)
		return 0;
	if (*query == '#' || find_any(part_of(query, end), "#") != end)
		return refuse(err, "a remote's URL has no '#'");
	return read_query(url, part_of(query + 1, end), err);
}

/* A path; a question mark begins parameters all the same. */
static int read_path(struct tkb_url *url, struct part part,
                     struct tkb_error *err)
{
	const char *end = part.start + part.size;
	const char *query = find_any(part, "?");

	url->place.scheme = "file";
	url->place.path = tkb_arena_string(
		&url->arena,
		(struct tkb_bytes){ part.start, (size_t)(query - part.start) });
	if (url->place.path == NULL)
		return tkb_fail_nomem(err);
	if (query == part.start)
		return refuse(err, "the remote's path is empty");
	return query == end ? 0 : read_query(url, part_of(query + 1, end), err);
}

static int parse(struct tkb_url *url, const char *text, struct tkb_error *err)
{
	const char *end = text + strlen(text);
	const char *colon = strstr(text, "://");
	int rc;

	if (end - text > URL_LIMIT)
		return refuse(err, "the URL is too long");
	if (colon == NULL)
		return read_path(url, part_of(text, end), err);
	rc = read_scheme(url, part_of(text, colon), err);
	if (rc < 0)
		return rc;
	return read_rest(url, part_of(colon + 3, end), err);
}

int tkb_url_parse(const char *text, struct tkb_url *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_url_release)
	struct tkb_url url = { .place = { .scheme = "",
		                          .user = "",
		                          .password = "",
		                          .host = "",
		                          .path = "",
		                          .name = "" } };
	int rc;

	rc = parse(&url, text, err);
	if (rc == 0)
		rc = make_name(&url, text, err);
	if (rc < 0)
		return rc;
	*out = url;
	url = (struct tkb_url){ 0 };
	return 0;
}
