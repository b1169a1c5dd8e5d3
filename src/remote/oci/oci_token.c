/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "remote/net/escape.h"
#include "remote/net/limits.h"
#include "remote/net/secret.h"
#include "remote/oci/oci.h"
#include "text/json_walk.h"

/* Tokens, from the server that the registry names. */

enum {
	TOKEN_LIMIT = 256 * 1024,
	DEFAULT_S = 60, /* lifetime of a token that does not say */
	MARGIN_S = 10,  /* a new token is fetched so long before the end */
	LONGEST_S = 24 * 60 * 60
};

/* The answer with a token. */
struct token {
	struct tkb_buf text;
	uint64_t lasts_s;
};

static void token_release(struct token *token)
{
	tkb_secret_release(&token->text);
}

static int take_token_value(void *self, const char *path,
                            enum tkb_json_type type, const char *value,
                            struct tkb_error *err)
{
	struct token *token = self;

	(void)err;
	if (strcmp(path, "expires_in") == 0 && type == TKB_JSON_NUMBER)
		token->lasts_s = strtoull(value, NULL, 10);
	if ((strcmp(path, "token") != 0 && strcmp(path, "access_token") != 0) ||
	    type != TKB_JSON_STRING || value[0] == '\0' ||
	    !tkb_is_visible(value))
		return 0;
	tkb_buf_reset(&token->text);
	tkb_buf_add_text(&token->text, value);
	tkb_buf_add_byte(&token->text, '\0');
	return 0;
}

static int use_answer(struct tkb_oci_auth *auth, struct tkb_bytes body,
                      struct tkb_error *err)
{
	TKB_AUTO(token_release)
	struct token token = { .text = TKB_BUF_INIT(TOKEN_LIMIT),
		               .lasts_s = DEFAULT_S };
	const struct tkb_json_walker walker = { take_token_value, &token };
	int rc;

	rc = tkb_json_walk(body, &walker, NULL);
	if (rc == TKB_ERR_NOMEM || token.text.failure == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || token.text.failure != 0 || token.text.size == 0)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its token server, '%.200s', gives no token",
		                auth->realm);
	rc = tkb_oci_auth_set(auth, "Bearer", (const char *)token.text.data,
	                      err);
	if (rc < 0)
		return rc;
	if (token.lasts_s > LONGEST_S)
		token.lasts_s = LONGEST_S;
	if (token.lasts_s <= MARGIN_S)
		token.lasts_s = MARGIN_S + 1;
	auth->is_bearer = true;
	auth->expires_ns = tkb_now_ns() +
	                   (token.lasts_s - MARGIN_S) * 1000 * TKB_NS_PER_MS;
	return 0;
}

static void add_parameter(struct tkb_buf *out, const char *name,
                          const char *value)
{
	if (value[0] == '\0')
		return;
	tkb_print(out, "%s%s=", out->size != 0 ? "&" : "", name);
	tkb_escape(out, value, "");
}

/*
 * Write "service=...&scope=...". A form has one scope, a URL has one per
 * repository.
 */
static int write_query(const struct tkb_oci_auth *auth, struct tkb_buf *out,
                       struct tkb_error *err)
{
	const bool is_form = auth->keys.identity != NULL;
	char both[2 * TKB_OCI_SCOPE_SIZE];

	(void)snprintf(both, sizeof(both), "%s %s", auth->scope, auth->also);
	add_parameter(out, "service", auth->service);
	add_parameter(out, "scope",
	              is_form && auth->also[0] != '\0' ? both : auth->scope);
	if (is_form) {
		add_parameter(out, "grant_type", "refresh_token");
		add_parameter(out, "client_id", "tkbundle");
		add_parameter(out, "refresh_token", auth->keys.identity);
	} else {
		add_parameter(out, "scope", auth->also);
	}
	return tkb_buf_check(out, err);
}

static int check_realm(const struct tkb_oci *oci, struct tkb_error *err)
{
	const char *realm = oci->auth.realm;
	const bool is_tls = tkb_begins_with(realm, "https://");

	if (!tkb_is_visible(realm) ||
	    (!is_tls && !tkb_begins_with(realm, "http://")))
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it does not name its token server");
	if (!is_tls && tkb_begins_with(oci->base, "https:"))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it has TLS, but its token server, '%.200s', "
		                "has none",
		                realm);
	return 0;
}

/* A request for a token, and what it is made of. */
struct asking {
	struct tkb_buf query;
	struct tkb_buf url;
	struct tkb_buf line; /* a header */
	struct tkb_buf body; /* of the answer */
};

static void asking_release(struct asking *asking)
{
	tkb_secret_release(&asking->query);
	tkb_secret_release(&asking->url);
	tkb_secret_release(&asking->line);
	tkb_secret_release(&asking->body);
}

/*
 * With a refresh token, the parameters are a form. With a user and a password,
 * or without, all of them are in the URL.
 */
static int write_request(const struct tkb_oci_auth *auth, struct asking *asking,
                         struct tkb_error *err)
{
	const bool is_form = auth->keys.identity != NULL;
	int rc;

	tkb_buf_add_text(&asking->url, auth->realm);
	if (!is_form && asking->query.size != 0) {
		tkb_buf_add_text(&asking->url,
		                 strchr(auth->realm, '?') ? "&" : "?");
		tkb_buf_add(&asking->url, tkb_buf_bytes(&asking->query));
	}
	tkb_buf_add_byte(&asking->url, '\0');
	if (is_form)
		tkb_buf_add_text(
			&asking->line,
			"Content-Type: application/x-www-form-urlencoded");
	else if (auth->keys.basic != NULL)
		tkb_print(&asking->line, "Authorization: Basic %s",
		          auth->keys.basic);
	tkb_buf_add_byte(&asking->line, '\0');
	rc = tkb_buf_check(&asking->url, err);
	return rc == 0 ? tkb_buf_check(&asking->line, err) : rc;
}

static int fail_token(const struct tkb_oci_auth *auth, int rc, long status,
                      struct tkb_error *err)
{
	const bool has_keys =
		auth->keys.basic != NULL || auth->keys.identity != NULL;

	if (rc != TKB_MISS && rc != TKB_ERR_DENIED)
		return tkb_fail_while(err, rc, "its token server, '%.200s'",
		                      auth->realm);
	return tkb_fail(err, TKB_ERR_DENIED,
	                "its token server, '%.200s', gives no token for "
	                "'%.200s'%s: HTTP %ld",
	                auth->realm, auth->scope,
	                has_keys ? "" : " without a user", status);
}

int tkb_oci_auth_token(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                       struct tkb_error *err)
{
	struct tkb_oci_auth *auth = &oci->auth;
	const bool is_post = auth->keys.identity != NULL;
	TKB_AUTO(asking_release)
	struct asking asking = { TKB_BUF_INIT(TOKEN_LIMIT),
		                 TKB_BUF_INIT(TOKEN_LIMIT),
		                 TKB_BUF_INIT(TOKEN_LIMIT),
		                 TKB_BUF_INIT(TOKEN_LIMIT) };
	const struct tkb_sink sink = tkb_buf_sink(&asking.body);
	struct tkb_http_request request = { .method = is_post ? "POST" : "GET",
		                            .sink = &sink,
		                            .limit = TOKEN_LIMIT };
	struct tkb_bytes form;
	struct tkb_blob posted;
	const char *header;
	int rc;

	rc = check_realm(oci, err);
	if (rc == 0)
		rc = write_query(auth, &asking.query, err);
	if (rc == 0)
		rc = write_request(auth, &asking, err);
	if (rc < 0)
		return rc;
	form = tkb_buf_bytes(&asking.query);
	posted = (struct tkb_blob){ form.size, tkb_memory_source(&form) };
	header = (const char *)asking.line.data;
	request.url = (const char *)asking.url.data;
	request.headers = &header;
	request.header_count = header[0] != '\0';
	request.body = is_post ? &posted : NULL;
	rc = tkb_http_ask_apart(oci->url, false, limits, &request, err);
	if (rc != 0)
		return fail_token(auth, rc, request.status, err);
	return use_answer(auth, tkb_buf_bytes(&asking.body), err);
}

int tkb_oci_auth_renew(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                       struct tkb_error *err)
{
	const struct tkb_oci_auth *auth = &oci->auth;

	oci->auth.is_new = false;
	if (auth->line == NULL || !auth->is_bearer ||
	    tkb_now_ns() < auth->expires_ns)
		return 0;
	return tkb_oci_auth_token(oci, limits, err);
}
