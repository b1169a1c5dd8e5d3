/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/blob_buffer.h"
#include "base/clock.h"
#include "remote/net/escape.h"
#include "remote/net/helper.h"
#include "remote/net/http_client.h"
#include "remote/net/limits.h"
#include "remote/net/secret.h"
#include "remote/net/url.h"
#include "remote/net/xml.h"
#include "remote/s3/s3_asking.h"
#include "text/json_walk.h"

/* Finding credentials: from STS, from a program, or wherever they are. */

enum {
	PATH_LIMIT = 4096,
	STS_URL_SIZE = 160,
	MARGIN_S = 300, /* before their end, other keys are looked for */
	LEAST_S = 5     /* between two tries */
};

static void asking_release(struct tkb_s3_asking *asking)
{
	tkb_s3_keys_release(&asking->keys);
}

/* The keys end at a time such as "2009-10-12T17:50:30Z". */
static void set_end(struct tkb_s3_keys *keys, const char *text)
{
	struct tm parts = { 0 };
	const uint64_t now_ns = tkb_now_ns();
	int64_t left_s;
	int64_t wait_s;

	if (strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) == NULL)
		return;
	left_s =
		(int64_t)timegm(&parts) - tkb_wall_ns() / (int64_t)TKB_NS_PER_S;
	if (left_s < 0)
		left_s = 0;
	wait_s = left_s > 2 * MARGIN_S ? left_s - MARGIN_S : left_s / 2;
	if (wait_s < LEAST_S)
		wait_s = LEAST_S;
	keys->end_ns = now_ns + (uint64_t)left_s * TKB_NS_PER_S;
	keys->renew_ns = now_ns + (uint64_t)wait_s * TKB_NS_PER_S;
}

/* All who give keys name them like this, but for the session token. */
static int take_value(struct tkb_s3_keys *keys, const char *name,
                      const char *value, struct tkb_error *err)
{
	if (strcmp(name, "AccessKeyId") == 0)
		return tkb_s3_keys_set(&keys->id, value, name, err);
	if (strcmp(name, "SecretAccessKey") == 0)
		return tkb_s3_keys_set(&keys->secret, value, name, err);
	if (strcmp(name, "SessionToken") == 0 || strcmp(name, "Token") == 0)
		return tkb_s3_keys_set(&keys->token, value, name, err);
	if (strcmp(name, "Expiration") == 0)
		set_end(keys, value);
	return 0;
}

static int take_json_value(void *self, const char *path,
                           enum tkb_json_type type, const char *value,
                           struct tkb_error *err)
{
	return type == TKB_JSON_STRING ? take_value(self, path, value, err) : 0;
}

static int take_element(void *self, const char *name, size_t depth,
                        const char *text, struct tkb_error *err)
{
	(void)depth;
	return take_value(self, name, text, err);
}

/* `rc` is that of reading an answer of `who`. */
static int check_answer(const struct tkb_s3_asking *asking, int rc,
                        const char *who, struct tkb_error *err)
{
	if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_DENIED)
		return rc;
	if (rc < 0 || asking->keys.id == NULL || asking->keys.secret == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "the answer of %.300s holds no keys", who);
	return 0;
}

int tkb_s3_read_answer(struct tkb_s3_asking *asking, const struct tkb_buf *text,
                       const char *who, struct tkb_error *err)
{
	const struct tkb_json_walker walker = { take_json_value,
		                                &asking->keys };

	return check_answer(asking,
	                    tkb_json_walk(tkb_buf_bytes(text), &walker, err),
	                    who, err);
}

int tkb_s3_read_token(const char *path, struct tkb_buf *out,
                      struct tkb_error *err)
{
	int rc;

	rc = tkb_secret_file_read(path, "a token", TKB_S3_ASK_LIMIT - 1, out,
	                          err);
	while (rc == 0 && out->size != 0 && out->data[out->size - 1] <= ' ')
		out->data[--out->size] = '\0';
	if (rc == TKB_MISS || (rc == 0 && out->size == 0))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "there is no token in '%.200s'", path);
	return rc;
}

/* Why STS refuses; nothing of a text that holds the token. */
struct refusal {
	const char *token;
	char code[80];
	char message[200];
};

static int take_reason(void *self, const char *name, size_t depth,
                       const char *text, struct tkb_error *err)
{
	struct refusal *refusal = self;

	(void)depth, (void)err;
	if (strstr(text, refusal->token) != NULL)
		return 0;
	if (strcmp(name, "Code") == 0)
		(void)snprintf(refusal->code, sizeof(refusal->code), ": %s",
		               text);
	if (strcmp(name, "Message") == 0)
		(void)snprintf(refusal->message, sizeof(refusal->message),
		               ": %s", text);
	return 0;
}

static int fail_sts(const char *role, const struct tkb_http_request *request,
                    int rc, const char *token, struct tkb_error *err)
{
	const struct tkb_buf *text = request->refusal;
	struct refusal refusal = { .token = token };
	const struct tkb_xml_visitor visitor = { take_reason, &refusal };

	if (rc != TKB_MISS && rc != TKB_ERR_DENIED)
		return tkb_fail_while(err, rc, "STS, '%.200s'", request->url);
	if (text->size != 0 &&
	    tkb_xml_read(tkb_buf_bytes(text), &visitor, NULL) < 0)
		refusal = (struct refusal){ .token = token };
	return tkb_fail(err, TKB_ERR_DENIED,
	                "STS gives no keys of the role '%.150s': HTTP %ld%s%s",
	                role, request->status, refusal.code, refusal.message);
}

static int write_form(const char *role, const char *session, const char *token,
                      struct tkb_buf *out, struct tkb_error *err)
{
	tkb_buf_add_text(out, "Action=AssumeRoleWithWebIdentity"
	                      "&Version=2011-06-15&RoleArn=");
	tkb_escape(out, role, "");
	tkb_buf_add_text(out, "&RoleSessionName=");
	tkb_escape(out, session, "");
	tkb_buf_add_text(out, "&WebIdentityToken=");
	tkb_escape(out, token, "");
	return tkb_buf_check(out, err);
}

int tkb_s3_check_server(const char *url, const char *whose,
                        struct tkb_error *err)
{
	const char *start = strstr(url, "://");
	const char *host = start != NULL ? start + 3 : url;

	if (memchr(host, '@', strcspn(host, "/?#")) == NULL)
		return 0;
	return tkb_fail(err, TKB_ERR_DENIED,
	                "the URL of %s has a user or a password, which is not "
	                "supported",
	                whose);
}

static const char *find_sts(const char *region, char own[STS_URL_SIZE])
{
	const char *url = tkb_environment("AWS_ENDPOINT_URL_STS");

	if (url == NULL)
		url = tkb_environment("AWS_ENDPOINT_URL");
	if (url != NULL)
		return url;
	(void)snprintf(own, STS_URL_SIZE, "https://sts.%.64s.amazonaws.com%s/",
	               region, tkb_begins_with(region, "cn-") ? ".cn" : "");
	return own;
}

static int ask_sts(struct tkb_s3_asking *asking, const char *path,
                   const char *role, const char *session, struct tkb_error *err)
{
	static const char *const headers[] = {
		"Content-Type: application/x-www-form-urlencoded"
	};
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf token = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf form = TKB_BUF_INIT(4 * TKB_S3_ASK_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf answer = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf refusal = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&answer);
	const struct tkb_xml_visitor visitor = { take_element, &asking->keys };
	char own[STS_URL_SIZE];
	struct tkb_bytes bytes;
	struct tkb_blob body;
	struct tkb_http_request request = {
		.method = "POST",
		.url = find_sts(asking->region, own),
		.headers = headers,
		.header_count = TKB_COUNT_OF(headers),
		.body = &body,
		.sink = &sink,
		.limit = TKB_S3_ASK_LIMIT,
		.refusal = &refusal,
	};
	int rc;

	rc = tkb_s3_check_server(request.url, "STS", err);
	if (rc == 0)
		rc = tkb_s3_read_token(path, &token, err);
	if (rc == 0)
		rc = write_form(role, session, (const char *)token.data, &form,
		                err);
	if (rc < 0)
		return rc;
	bytes = tkb_buf_bytes(&form);
	body = (struct tkb_blob){ bytes.size, tkb_memory_source(&bytes) };
	rc = tkb_http_ask_apart(asking->url, false, asking->limits, &request,
	                        err);
	if (rc != 0)
		return fail_sts(role, &request, rc, (const char *)token.data,
		                err);
	return check_answer(asking,
	                    tkb_xml_read(tkb_buf_bytes(&answer), &visitor, err),
	                    "STS", err);
}

/* The role that the environment of a pod names. */
static int ask_for_pod(struct tkb_s3_asking *asking, struct tkb_error *err)
{
	const char *path = tkb_environment("AWS_WEB_IDENTITY_TOKEN_FILE");
	const char *role = tkb_environment("AWS_ROLE_ARN");
	const char *session = tkb_environment("AWS_ROLE_SESSION_NAME");

	if (path == NULL || tkb_remote_url_param(asking->url, "profile"))
		return TKB_MISS;
	if (role == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "AWS_WEB_IDENTITY_TOKEN_FILE is set, but "
		                "AWS_ROLE_ARN is not");
	return ask_sts(asking, path, role,
	               session != NULL ? session : "tkbundle", err);
}

/* Refuse a profile whose keys only Amazon's programs can get. */
static int refuse_profile(const struct tkb_s3_asking *asking,
                          struct tkb_error *err)
{
	static const char *const names[] = { "sso_session", "sso_start_url",
		                             "source_profile",
		                             "credential_source" };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(PATH_LIMIT);
	const char *profile = tkb_s3_profile(asking->url);
	int rc = TKB_MISS;

	for (size_t i = 0; i < TKB_COUNT_OF(names) && rc == TKB_MISS; i++) {
		rc = tkb_s3_profile_setting(asking->url, names[i], &value, err);
		if (rc == 0)
			return tkb_fail(
				err, TKB_ERR_DENIED,
				"the profile '%.60s' has %s, which only "
				"Amazon's programs follow: give it "
				"\"credential_process = aws configure "
				"export-credentials --profile %.60s\"",
				profile, names[i], profile);
	}
	return rc;
}

static int ask_program(struct tkb_s3_asking *asking, const char *command,
                       struct tkb_error *err)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf answer = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	int rc;

	rc = tkb_helper_run(argv, "credential_process", "", asking->limits,
	                    &answer, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "the credential_process of the profile "
		                "'%.80s' failed",
		                tkb_s3_profile(asking->url));
	return rc == 0 ? tkb_s3_read_answer(asking, &answer,
	                                    "credential_process", err)
	               : rc;
}

/* What the profile says of where its keys are. */
static int ask_for_profile(struct tkb_s3_asking *asking, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf role = TKB_BUF_INIT(PATH_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(PATH_LIMIT);
	int rc;

	rc = tkb_s3_profile_setting(asking->url, "web_identity_token_file",
	                            &path, err);
	if (rc == 0)
		rc = tkb_s3_profile_setting(asking->url, "role_arn", &role,
		                            err);
	if (rc == 0)
		rc = tkb_s3_profile_setting(asking->url, "role_session_name",
		                            &value, err);
	if (rc >= 0 && role.size != 0)
		return ask_sts(asking, (const char *)path.data,
		               (const char *)role.data,
		               rc == 0 ? (const char *)value.data : "tkbundle",
		               err);
	if (rc == TKB_MISS)
		rc = tkb_s3_profile_setting(asking->url, "credential_process",
		                            &value, err);
	if (rc == 0)
		return ask_program(asking, (const char *)value.data, err);
	return rc == TKB_MISS ? refuse_profile(asking, err) : rc;
}

static int fail_none(const struct tkb_s3_asking *asking, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	const bool has_profile =
		tkb_remote_url_param(asking->url, "profile") != NULL;
	int rc;

	rc = tkb_s3_file_path(TKB_S3_CREDENTIALS, &path, err);
	if (rc < 0)
		return rc;
	return tkb_fail(err, TKB_ERR_DENIED,
	                "there are no credentials: %sno keys of the profile "
	                "'%.80s' in '%.150s', and no role of this machine: %s "
	                "(anonymous=true does without)",
	                has_profile ? ""
	                            : "no AWS_ACCESS_KEY_ID in the "
	                              "environment, ",
	                tkb_s3_profile(asking->url),
	                rc == 0 ? (const char *)path.data
	                        : "~/.aws/credentials",
	                asking->reason);
}

int tkb_s3_keys_find(const struct tkb_remote_url *url, const char *region,
                     const struct tkb_op_limits *limits,
                     struct tkb_s3_keys *out, struct tkb_error *err)
{
	TKB_AUTO(asking_release)
	struct tkb_s3_asking asking = { .url = url,
		                        .region = region,
		                        .limits = limits };
	int rc;

	rc = tkb_s3_keys_read(url, &asking.keys, err);
	if (rc == TKB_MISS)
		rc = ask_for_pod(&asking, err);
	if (rc == TKB_MISS)
		rc = ask_for_profile(&asking, err);
	if (rc == TKB_MISS)
		rc = tkb_s3_ask_container(&asking, err);
	if (rc == TKB_MISS)
		rc = tkb_s3_ask_machine(&asking, err);
	if (rc == TKB_MISS)
		return fail_none(&asking, err);
	if (rc < 0)
		return rc;
	*out = asking.keys;
	asking.keys = (struct tkb_s3_keys){ 0 };
	return 0;
}
