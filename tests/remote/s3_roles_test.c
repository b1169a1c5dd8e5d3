/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/net/url.h"
#include "remote/s3/s3_keys.h"
#include "s3_fixture.h"

/* Credentials of roles, which servers and programs give. */

#define ROLE "arn:aws:iam::123456789012:role/"
#define ID "ASIATEST"
#define SECRET "s3cret/Of+Session"
#define TOKEN "token/With+Signs=="

static void set(const char *name, const char *value)
{
	SYS(setenv(name, value, 1));
}

/* A server for all of them; nothing in the environment names it yet. */
static struct server start_roles(void)
{
	forget_aws();
	return start_python(TKB_ROLE_SERVER, "roles.log");
}

static void set_pod(const struct server *roles, const char *role)
{
	set("AWS_ENDPOINT_URL_STS", text("http://127.0.0.1:%u", roles->port));
	write_text("web", "web+identity/token==");
	set("AWS_WEB_IDENTITY_TOKEN_FILE", text("%s/web", test_folder()));
	set("AWS_ROLE_ARN", text(ROLE "%s", role));
}

static void set_container(const struct server *roles, const char *kind)
{
	set("AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    text("http://127.0.0.1:%u/container/%s", roles->port, kind));
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-token");
}

static void set_machine(const struct server *roles)
{
	SYS(unsetenv("AWS_EC2_METADATA_DISABLED"));
	set("AWS_EC2_METADATA_SERVICE_ENDPOINT",
	    text("http://127.0.0.1:%u/", roles->port));
}

static void write_profile(const char *lines)
{
	if (!exists(".aws"))
		SYS(mkdir(".aws", 0777));
	write_text(".aws/config", text("[profile ci]\n%s", lines));
}

static int find_keys(const char *text, struct tkb_s3_keys *keys,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	const struct tkb_op_limits limits = {
		.deadline_ns = tkb_now_ns() + 20 * TKB_NS_PER_S,
		.connect_ms = 5000,
		.stall_ms = 2000,
	};

	OK(tkb_remote_url_parse(text, &url, ERR));
	return tkb_s3_keys_find(url, "eu-west-3", &limits, keys, err);
}

/* What Amazon's own library finds in the same environment: "id token". */
static const char *ask_botocore(const char *profile)
{
	const struct outcome outcome =
		run("env", "-u", "http_proxy", "AWS_DEFAULT_REGION=eu-west-3",
	            TKB_MOTO_PYTHON, "-B", "-c",
	            "import sys, botocore.session as b\n"
	            "keys = b.Session(profile=sys.argv[1] or None)"
	            ".get_credentials().get_frozen_credentials()\n"
	            "print(keys.access_key, keys.token, end='')",
	            profile, NULL);

	if (outcome.status != 0)
		fail_msg("%s", outcome.err);
	return outcome.out;
}

static void check_keys(const char *profile)
{
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };

	OK(find_keys(profile[0] == '\0'
	                     ? "s3://bucket"
	                     : text("s3://bucket?profile=%s", profile),
	             &keys, ERR));
	CHECK_STR(keys.id, ID);
	CHECK_STR(keys.secret, SECRET);
	CHECK_STR(keys.token, TOKEN);
	CHECK(keys.end_ns > tkb_now_ns() + 3500 * TKB_NS_PER_S);
	CHECK(keys.renew_ns > tkb_now_ns() + 3200 * TKB_NS_PER_S);
	CHECK(keys.renew_ns < tkb_now_ns() + 3301 * TKB_NS_PER_S);
	if (access(TKB_MOTO_PYTHON, X_OK) == 0)
		CHECK_STR(ask_botocore(profile), ID " " TOKEN);
}

static void check_no_keys(const char *url, int status, const char *part)
{
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };

	FAILS(find_keys(url, &keys, ERR), status, part);
	CHECK(keys.id == NULL);
	CHECK(strstr(ERR->message, "s3cret") == NULL);
	CHECK(strstr(ERR->message, "token=") == NULL);
	CHECK(strstr(ERR->message, "container-token") == NULL);
}

TEST(s3_roles, a_pod_has_the_role_that_sts_gives_for_its_token)
{
	const struct server roles = start_roles();

	set_pod(&roles, "kernels");
	check_keys("");
	set("AWS_ROLE_SESSION_NAME", "server 7/a");
	check_keys("");
}

TEST(s3_roles, a_refusal_of_sts_is_told)
{
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };
	const struct server roles = start_roles();

	set_pod(&roles, "none");
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "STS gives no keys of the role '" ROLE
	              "none': HTTP 403: AccessDenied: Not authorized to "
	              "perform sts:AssumeRoleWithWebIdentity");
	set_pod(&roles, "html");
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "the answer of STS holds no keys");
	set_pod(&roles, "busy");
	check_no_keys("s3://bucket", TKB_ERR_UNAVAILABLE, "STS, 'http://");
	set_pod(&roles, "kernels");
	write_text("web", "web+identity/token==\n");
	OK(find_keys("s3://bucket", &keys, ERR));
	write_text("web", "another\n");
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "InvalidIdentityToken");
	/* Its answer would tell the token. */
	set("AWS_ROLE_ARN", "kernels");
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "'kernels': HTTP 400");
	CHECK(strstr(ERR->message, "another") == NULL);
	write_text("web", text("%0500d", 7));
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "'kernels': HTTP 400");
	CHECK(strstr(ERR->message, "0000") == NULL);
	write_text("web", "\n");
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "there is no token in '");
	SYS(unsetenv("AWS_ROLE_ARN"));
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is "
	              "not");
	set("AWS_ROLE_ARN", ROLE "kernels");
	set("AWS_WEB_IDENTITY_TOKEN_FILE", "nowhere");
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "there is no token in 'nowhere'");
}

/* What a credential_process may print. */
static void write_answer(void)
{
	write_text("answer",
	           text("{\"Version\": 1, \"AccessKeyId\": \"" ID "\","
	                "\"SecretAccessKey\": \"" SECRET "\","
	                "\"SessionToken\": \"" TOKEN "\","
	                "\"Expiration\": \"%s\"}",
	                run("sh", "-c",
	                    "printf %s \"$(date -u -d '+1 hour' "
	                    "+%Y-%m-%dT%H:%M:%SZ)\"",
	                    NULL)
	                        .out));
}

TEST(s3_roles, a_profile_may_name_a_role_or_a_program)
{
	const struct server roles = start_roles();

	set("AWS_ENDPOINT_URL_STS", text("http://127.0.0.1:%u", roles.port));
	write_text("web", "web+identity/token==");
	write_profile(text("role_arn = " ROLE "kernels\n"
	                   "web_identity_token_file = %s/web\n",
	                   test_folder()));
	check_keys("ci");
	set("AWS_WEB_IDENTITY_TOKEN_FILE", "nowhere");
	check_keys("ci");
	write_answer();
	write_profile(text("credential_process = \"cat\" %s/answer\n",
	                   test_folder()));
	check_keys("ci");
}

/* The role before all keys, the program before those of its own file. */
TEST(s3_roles, a_profile_that_has_keys_too_is_taken_in_amazons_order)
{
	static const char keys[] = "aws_access_key_id = AKIAOTHER\n"
				   "aws_secret_access_key = other\n";
	const struct server roles = start_roles();

	set("AWS_ENDPOINT_URL_STS", text("http://127.0.0.1:%u", roles.port));
	write_text("web", "web+identity/token==");
	write_profile(text("role_arn = " ROLE "kernels\n"
	                   "web_identity_token_file = %s/web\n%s",
	                   test_folder(), keys));
	write_text(".aws/credentials", text("[ci]\n%s", keys));
	check_keys("ci");
	SYS(unlink(".aws/credentials"));
	write_answer();
	write_profile(text("credential_process = cat %s/answer\n%s",
	                   test_folder(), keys));
	check_keys("ci");
}

TEST(s3_roles, a_program_that_gives_no_keys_is_told_and_not_waited_for)
{
	forget_aws();
	write_profile("credential_process = false\n");
	check_no_keys("s3://bucket?profile=ci", TKB_ERR_DENIED,
	              "the credential_process of the profile 'ci' failed");
	write_profile("credential_process = echo s3cret/of/nobody\n");
	check_no_keys("s3://bucket?profile=ci", TKB_ERR_DENIED,
	              "the answer of credential_process holds no keys");
	write_profile("credential_process = sleep 600 | cat\n");
	uint64_t since_ns = tkb_now_ns();
	check_no_keys("s3://bucket?profile=ci", TKB_ERR_DENIED,
	              "'credential_process' does not answer within 2000 ms");
	CHECK(tkb_now_ns() - since_ns < 15 * TKB_NS_PER_S);
}

TEST(s3_roles, a_profile_that_only_amazons_programs_follow_is_told)
{
	forget_aws();
	write_profile("sso_session = team\n");
	check_no_keys("s3://bucket?profile=ci", TKB_ERR_DENIED,
	              "the profile 'ci' has sso_session, which only Amazon's "
	              "programs follow: give it \"credential_process = aws "
	              "configure export-credentials --profile ci\"");
	write_profile("role_arn = " ROLE "x\nsource_profile = default\n");
	check_no_keys("s3://bucket?profile=ci", TKB_ERR_DENIED,
	              "has source_profile");
}

/* The library's reason: it would have to ask AWS. */
static const char *ask_botocore_in_vain(void)
{
	return run("env", "AWS_DEFAULT_REGION=eu-west-3", TKB_MOTO_PYTHON, "-B",
	           "-c",
	           "import botocore.session as b\n"
	           "try:\n"
	           "    b.Session(profile='ci').get_credentials()"
	           ".get_frozen_credentials()\n"
	           "except Exception as fault:\n"
	           "    print(type(fault).__name__, end='')",
	           NULL)
	        .out;
}

TEST(s3_roles, a_profile_that_has_keys_too_is_told_in_amazons_order)
{
	static const char keys[] = "aws_access_key_id = AKIAOTHER\n"
				   "aws_secret_access_key = other\n";
	static const struct {
		const char *lines;
		const char *part;  /* of our message */
		const char *fault; /* of botocore's */
	} profiles[] = {
		{ "role_arn = " ROLE "x\nsource_profile = other\n",
		  "has source_profile", "InvalidConfigError" },
		{ "role_arn = " ROLE "x\ncredential_source = Environment\n",
		  "has credential_source", "CredentialRetrievalError" },
	};
	static const char *const others[] = {
		"source_profile = other\nsso_session = team\n",
		"sso_account_id = 1\nsso_role_name = x\n"
		"sso_start_url = https://localhost/\nsso_region = a\n"
	};

	forget_aws();
	write_profile("");
	write_text(".aws/credentials", text("[ci]\n%s", keys));
	for (size_t i = 0; i < TKB_COUNT_OF(profiles); i++) {
		write_profile(profiles[i].lines);
		check_no_keys("s3://bucket?profile=ci", TKB_ERR_DENIED,
		              profiles[i].part);
		if (access(TKB_MOTO_PYTHON, X_OK) == 0)
			CHECK_STR(ask_botocore_in_vain(), profiles[i].fault);
	}
	for (size_t i = 0; i < TKB_COUNT_OF(others); i++) {
		TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys found = { 0 };

		write_profile(others[i]);
		OK(find_keys("s3://bucket?profile=ci", &found, ERR));
		CHECK_STR(found.id, "AKIAOTHER");
	}
}

TEST(s3_roles, a_container_is_given_keys_for_its_token)
{
	const struct server roles = start_roles();

	set_container(&roles, "kernels");
	set("http_proxy", "http://127.0.0.1:1");
	check_keys("");
	write_text("token", "container-token");
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	    text("%s/token", test_folder()));
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "stale");
	check_keys("");
	write_text("token", "another");
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "/kernels': HTTP 401");
	write_text("token", "a\r\nX-Evil: 1");
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "has a line break");
	set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "");
	set_container(&roles, "none");
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "/none': HTTP 404");
	set_container(&roles, "html");
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "/container/html holds no keys");
}

TEST(s3_roles, a_container_is_not_given_keys_by_anybody)
{
	static const char *const uris[] = { "http://example.com/",
		                            "http://127.0.0.1.example.com/",
		                            "http://127.0.0.1:x.example.com/",
		                            "http://169.254.169.254/",
		                            "ftp://127.0.0.1/",
		                            "/x" };

	forget_aws();
	for (size_t i = 0; i < TKB_COUNT_OF(uris); i++) {
		set("AWS_CONTAINER_CREDENTIALS_FULL_URI", uris[i]);
		check_no_keys("s3://bucket", TKB_ERR_DENIED,
		              "neither under TLS nor of this machine");
	}
}

TEST(s3_roles, a_password_in_a_servers_url_is_refused_and_not_told)
{
	const struct server roles = start_roles();

	set("AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    "http://127.0.0.1:s3cret@example.com/x");
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "the URL of the container's credentials has a user or a "
	              "password");
	set_pod(&roles, "kernels");
	set("AWS_ENDPOINT_URL_STS",
	    text("http://u:s3cret@127.0.0.1:%u", roles.port));
	check_no_keys("s3://bucket", TKB_ERR_DENIED, "the URL of STS has a");
	set("AWS_ENDPOINT_URL_STS",
	    text("http://127.0.0.1:%u/?a@b", roles.port));
	check_keys("");
}

TEST(s3_roles, a_machine_has_a_role)
{
	const struct server roles = start_roles();

	set_machine(&roles);
	set("http_proxy", "http://127.0.0.1:1");
	check_keys("");
	/* Of AWS' programs, only the first three requests are ours. */
	CHECK_CONTAINS(
		(const char *)read_file("roles.log").data,
		"PUT /latest/api/token 200\n"
		"GET /latest/meta-data/iam/security-credentials/ 200\n"
		"GET /latest/meta-data/iam/security-credentials/the%20role "
		"200\n");
	set("AWS_EC2_METADATA_SERVICE_ENDPOINT",
	    text("http://127.0.0.1:%u/none", roles.port));
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "no role of this machine: its metadata service answers "
	              "HTTP 400 (anonymous=true does without)");
}

static void never_answer(int fd, void *self)
{
	(void)fd, (void)self;
	(void)sleep(60);
}

TEST(s3_roles, a_machine_without_a_role_is_not_waited_for)
{
	const struct server silent = start_fake(never_answer, NULL);

	forget_aws();
	set_machine(&silent);
	uint64_t since_ns = tkb_now_ns();
	check_no_keys("s3://bucket", TKB_ERR_DENIED,
	              "its metadata service does not answer");
	CHECK(tkb_now_ns() - since_ns < 4 * TKB_NS_PER_S);
}

/* What a server saw of one remote that is used again and again. */
static size_t count_requests(const char *line)
{
	return count_parts(read_file("roles.log").data, line);
}

TEST(s3_roles, a_remote_is_used_with_them)
{
	const struct tkb_bytes bytes = make_bytes(1000, 1);

	start_s3();
	const char *url = s3_url(new_bucket("roles"), "");
	const struct server roles = start_roles();

	set_container(&roles, "kernels");
	struct handle *handle = must_connect(url);
	struct tkb_digest digest = must_put(handle, bytes);
	check_blob(handle, &digest, 0, bytes);
	CHECK_INT(count_requests("GET /container/kernels 200\n"), 1);
}

static int has_nothing(struct tkb_remote *remote, struct tkb_error *err)
{
	const struct tkb_digest digest = made_up(1);
	bool is_there = true;
	const int rc = tkb_remote_has(remote, &digest, 1, &is_there, err);

	CHECK(rc < 0 || !is_there);
	return rc;
}

/* Also before their end, as when the role of a machine is another now. */
TEST(s3_roles, keys_that_are_refused_are_looked_for_again)
{
	start_s3();
	const char *url = s3_url(new_bucket("roles"), "");
	const struct server roles = start_roles();

	set_container(&roles, "gone");
	struct tkb_remote *remote = must_open_remote(url, NULL);
	FAILS(has_nothing(remote, ERR), TKB_ERR_DENIED,
	      "the session token has expired");
	FAILS(has_nothing(remote, ERR), TKB_ERR_DENIED,
	      "the session token has expired");
	CHECK_INT(count_requests("GET /container/gone 200\n"), 1);
	(void)sleep(6);
	OK(has_nothing(remote, ERR));
	CHECK_INT(count_requests("GET /container/gone 200\n"), 2);
}

TEST(s3_roles, a_refusal_while_nobody_gives_other_keys_is_only_a_refusal)
{
	start_s3();
	const char *url = s3_url(new_bucket("roles"), "");
	struct server roles = start_roles();

	set_container(&roles, "gone");
	struct tkb_remote *remote = must_open_remote(url, NULL);
	FAILS(has_nothing(remote, ERR), TKB_ERR_DENIED,
	      "the session token has expired");
	(void)sleep(6);
	set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/");
	FAILS(has_nothing(remote, ERR), TKB_ERR_DENIED,
	      "the session token has expired");
	set_container(&roles, "kernels");
	(void)sleep(6);
	OK(has_nothing(remote, ERR));
}

TEST(s3_roles, keys_that_end_soon_are_renewed_and_used_till_then)
{
	const struct tkb_bytes bytes = make_bytes(1000, 3);

	start_s3();
	const char *url = s3_url(new_bucket("roles"), "");
	const struct server roles = start_roles();

	set_container(&roles, "10s");
	struct handle *handle = must_connect(url);
	struct tkb_digest digest = must_put(handle, bytes);
	set_container(&roles, "kernels");
	(void)sleep(6);
	check_blob(handle, &digest, 0, bytes);
	CHECK_INT(count_requests("GET /container/kernels 200\n"), 1);
	check_blob(handle, &digest, 0, bytes);
	CHECK_INT(count_requests("GET /container/kernels 200\n"), 1);
}
