/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote/net/escape.h"
#include "remote/net/http_client.h"
#include "remote/net/limits.h"
#include "remote/net/secret.h"
#include "remote/net/url.h"
#include "remote/s3/s3_asking.h"

/* Credentials that a container's agent or the machine's metadata service gives. */

enum {
	URL_LIMIT = 4096,
	MACHINE_MS =
		1000 /* for its answer: most machines have no such service */
};

#define CONTAINER_SERVER "http://169.254.170.2"
#define MACHINE_SERVER "http://169.254.169.254"
#define MACHINE_SERVER_IPV6 "http://[fd00:ec2::254]"
#define MACHINE_ROLES "/latest/meta-data/iam/security-credentials/"

/*
 * A plain-text server must be this machine, or one of the addresses that Amazon
 * gives to the agents of containers.
 */
static bool may_be_asked(const char *uri)
{
	static const char *const hosts[] = {
		"http://169.254.170.2",  "http://169.254.170.23",
		"http://[fd00:ec2::23]", "http://localhost",
		"http://127.0.0.1",      "http://[::1]"
	};

	if (tkb_begins_with(uri, "https://"))
		return true;
	for (size_t i = 0; i < TKB_COUNT_OF(hosts); i++) {
		const size_t size = strlen(hosts[i]);
		const char *rest = uri + size;

		if (strncmp(uri, hosts[i], size) != 0)
			continue;
		if (*rest == ':')
			rest += 1 + strspn(rest + 1, "0123456789");
		if (*rest == '\0' || *rest == '/' || *rest == '?')
			return true;
	}
	return false;
}

/* Make "Authorization: <token>"; empty if there is no token. */
static int write_authorization(struct tkb_buf *out, struct tkb_error *err)
{
	const char *path =
		tkb_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *text = tkb_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf token = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	int rc = 0;

	if (path != NULL)
		rc = tkb_s3_read_token(path, &token, err);
	if (path != NULL && rc == 0)
		text = (const char *)token.data;
	if (rc < 0 || text == NULL)
		return rc;
	if (strpbrk(text, "\r\n") != NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "the container's authorization token has a "
		                "line break");
	tkb_print(out, "Authorization: %s", text);
	return tkb_buf_check(out, err);
}

/* The server that the environment of a container names. */
int tkb_s3_ask_container(struct tkb_s3_asking *asking, struct tkb_error *err)
{
	const char *path =
		tkb_environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *uri = tkb_environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf header = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf answer = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&answer);
	struct tkb_http_request request = { .method = "GET",
		                            .sink = &sink,
		                            .limit = TKB_S3_ASK_LIMIT };
	char own[URL_LIMIT];
	const char *line;
	int rc;

	if (path != NULL) {
		(void)snprintf(own, sizeof(own), CONTAINER_SERVER "%s", path);
		uri = own;
	}
	if (uri == NULL)
		return TKB_MISS;
	rc = tkb_s3_check_server(uri, "the container's credentials", err);
	if (rc < 0)
		return rc;
	if (!may_be_asked(uri))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "the container's credentials are at '%.200s', "
		                "which is neither under TLS nor of this "
		                "machine",
		                uri);
	rc = write_authorization(&header, err);
	if (rc < 0)
		return rc;
	line = (const char *)header.data;
	request.url = uri;
	request.headers = &line;
	request.header_count = header.size != 0;
	rc = tkb_http_ask_apart(asking->url, true, asking->limits, &request,
	                        err);
	if (rc == TKB_MISS || rc == TKB_ERR_DENIED)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "the container's credentials, '%.200s': HTTP "
		                "%ld",
		                uri, request.status);
	if (rc < 0)
		return tkb_fail_while(
			err, rc, "the container's credentials, '%.200s'", uri);
	return tkb_s3_read_answer(asking, &answer, uri, err);
}

static const char *find_machine(void)
{
	const char *url = tkb_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	const char *mode =
		tkb_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");

	if (url != NULL)
		return url;
	return mode != NULL && strcasecmp(mode, "ipv6") == 0
	               ? MACHINE_SERVER_IPV6
	               : MACHINE_SERVER;
}

/*
 * Ask the machine's metadata service. TKB_MISS: it gives nothing, for the reason
 * in `asking`.
 */
static int ask_metadata(struct tkb_s3_asking *asking, const char *method,
                        const char *path, const char *header,
                        struct tkb_buf *out, struct tkb_error *err)
{
	const char *server = find_machine();
	const struct tkb_sink sink = tkb_buf_sink(out);
	struct tkb_op_limits limits = *asking->limits;
	char url[URL_LIMIT];
	struct tkb_http_request request = { .method = method,
		                            .url = url,
		                            .headers = &header,
		                            .header_count = 1,
		                            .sink = &sink,
		                            .limit = TKB_S3_ASK_LIMIT };
	struct tkb_error fault = { 0 };
	int rc;

	(void)snprintf(
		url, sizeof(url), "%.*s%s",
		(int)(strlen(server) - (server[strlen(server) - 1] == '/')),
		server, path);
	if (limits.connect_ms > MACHINE_MS)
		limits.connect_ms = MACHINE_MS;
	if (limits.stall_ms > MACHINE_MS)
		limits.stall_ms = MACHINE_MS;
	rc = tkb_http_ask_apart(asking->url, true, &limits, &request, &fault);
	tkb_buf_add_byte(out, '\0');
	if (rc == 0)
		return tkb_buf_check(out, err);
	if (rc == TKB_ERR_CANCELLED || rc == TKB_ERR_NOMEM)
		return tkb_fail_as(err, rc, &fault);
	if (request.status == 0)
		(void)snprintf(asking->reason, TKB_S3_REASON_SIZE,
		               "its metadata service does not answer");
	else
		(void)snprintf(asking->reason, TKB_S3_REASON_SIZE,
		               "its metadata service answers HTTP %ld",
		               request.status);
	rc = tkb_op_limits_check(asking->limits, err);
	return rc < 0 ? rc : TKB_MISS;
}

static int ask_for_role(struct tkb_s3_asking *asking, const char *header,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf role = TKB_BUF_INIT(URL_LIMIT);
	TKB_AUTO(tkb_buf_release) struct tkb_buf path = TKB_BUF_INIT(URL_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf answer = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	char *name;
	int rc;

	rc = ask_metadata(asking, "GET", MACHINE_ROLES, header, &role, err);
	if (rc != 0)
		return rc;
	name = (char *)role.data;
	name[strcspn(name, "\r\n")] = '\0';
	if (name[0] == '\0') {
		(void)snprintf(asking->reason, TKB_S3_REASON_SIZE,
		               "its metadata service names none");
		return TKB_MISS;
	}
	tkb_buf_add_text(&path, MACHINE_ROLES);
	tkb_escape(&path, name, "");
	tkb_buf_add_byte(&path, '\0');
	rc = tkb_buf_check(&path, err);
	if (rc == 0)
		rc = ask_metadata(asking, "GET", (const char *)path.data,
		                  header, &answer, err);
	if (rc != 0)
		return rc;
	answer.size--;
	return tkb_s3_read_answer(asking, &answer,
	                          "the machine's metadata service", err);
}

/* The role of the machine. The service wants a token of its own first. */
int tkb_s3_ask_machine(struct tkb_s3_asking *asking, struct tkb_error *err)
{
	const char *disabled = tkb_environment("AWS_EC2_METADATA_DISABLED");
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf token = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf header = TKB_BUF_INIT(TKB_S3_ASK_LIMIT);
	int rc;

	if (disabled != NULL && strcasecmp(disabled, "true") == 0) {
		(void)snprintf(asking->reason, TKB_S3_REASON_SIZE,
		               "AWS_EC2_METADATA_DISABLED is set");
		return TKB_MISS;
	}
	rc = ask_metadata(asking, "PUT", "/latest/api/token",
	                  "X-aws-ec2-metadata-token-ttl-seconds: 60", &token,
	                  err);
	if (rc != 0)
		return rc;
	tkb_print(&header, "X-aws-ec2-metadata-token: %s",
	          (const char *)token.data);
	rc = tkb_buf_check(&header, err);
	return rc == 0 ? ask_for_role(asking, (const char *)header.data, err)
	               : rc;
}
