/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_http.h"
#include "registry.h"
#include "remote_fixture.h"

/* What a registry wants to know of us, and where we look for that. */

#define WRITER "writer:s3cret"
#define WRITER_BASIC "d3JpdGVyOnMzY3JldA=="

static const char *const places[] = { "REGISTRY_AUTH_FILE", "DOCKER_CONFIG",
	                              "XDG_RUNTIME_DIR", "HOME" };

/* No file of the user's is read. */
static void forget_user(void)
{
	for (size_t i = 0; i < TKB_COUNT_OF(places); i++)
		(void)unsetenv(places[i]);
}

static const char *oci_url(unsigned port, const char *user)
{
	return text("oci://%s127.0.0.1:%u/team/kernels", user, port);
}

static void write_passwords(void)
{
	write_text("passwords",
	           "writer:$2b$05$"
	           "abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n");
}

static const char *basic_auth(void)
{
	return text("auth:\n  htpasswd:\n    realm: tests\n"
	            "    path: %s/passwords\n",
	            test_folder());
}

static struct server start_basic(void)
{
	write_passwords();
	return start_registry(basic_auth());
}

/* Put, list, and get: all kinds of requests. */
static int use(const char *url, struct tkb_error *err)
{
	const struct tkb_bytes bytes = make_bytes(1000, 1);
	const struct tkb_digest digest = digest_of(bytes);
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	int rc = open_handle(url, &handle, err);
	if (rc == 0)
		rc = put_blob(&handle, &digest, &bytes, err);
	if (rc == 0)
		rc = ASK(&handle, add, "ref", &digest, bytes, err);
	if (rc == 0)
		rc = ASK(&handle, records, "ref", &visitor, err);
	if (rc == 0 && notebook->count != 1)
		rc = tkb_fail(err, TKB_ERR_CORRUPT, "no record");
	if (rc == 0)
		rc = ASK(&handle, drop, "ref", &digest, err);
	return rc;
}

TEST(oci_auth, a_user_in_the_url_counts)
{
	forget_user();
	const struct server server = start_basic();

	OK(use(oci_url(server.port, WRITER "@"), ERR));
	FAILS(use(oci_url(server.port, "writer:wrong@"), ERR), TKB_ERR_DENIED,
	      "it wants other credentials: HTTP 401");
	FAILS(use(oci_url(server.port, ""), ERR), TKB_ERR_DENIED,
	      "it wants a user and a password, and there are none");
}

TEST(oci_auth, files_of_docker_and_podman_are_read)
{
	forget_user();
	const struct server server = start_basic();
	const char *host = text("127.0.0.1:%u", server.port);
	const char *const names[] = { host, text("https://%s/v1/", host),
		                      text("%s/team", host),
		                      text("%s/team/kernels", host) };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		write_text("auth.json",
		           text("{\"auths\":{\"other\":{\"auth\":\"eA==\"},"
		                "\"%s/x\":{\"auth\":\"eA==\"},"
		                "\"%s\":{\"auth\":\"" WRITER_BASIC "\"}}}",
		                host, names[i]));
		SYS(setenv("REGISTRY_AUTH_FILE",
		           text("%s/auth.json", test_folder()), 1));
		OK(use(oci_url(server.port, ""), ERR));
	}
	forget_user();
	SYS(mkdir("containers", 0700));
	SYS(rename("auth.json", "containers/auth.json"));
	SYS(setenv("XDG_RUNTIME_DIR", test_folder(), 1));
	OK(use(oci_url(server.port, ""), ERR));
	forget_user();
	SYS(rename("containers/auth.json", "config.json"));
	SYS(setenv("DOCKER_CONFIG", test_folder(), 1));
	OK(use(oci_url(server.port, ""), ERR));
	forget_user();
	SYS(mkdir(".docker", 0700));
	SYS(rename("config.json", ".docker/config.json"));
	SYS(setenv("HOME", test_folder(), 1));
	OK(use(oci_url(server.port, ""), ERR));
}

static void write_helper(const char *name, const char *script)
{
	const char *path = text("docker-credential-%s", name);

	write_text(path, text("#!/bin/sh\n%s", script));
	SYS(chmod(path, 0755));
}

static int use_helper(unsigned port, const char *name, struct tkb_error *err)
{
	write_text("auth.json",
	           text("{\"credHelpers\":{\"127.0.0.1:%u\":\"%s\"}}", port,
	                name));
	SYS(setenv("REGISTRY_AUTH_FILE", text("%s/auth.json", test_folder()),
	           1));
	return use(oci_url(port, ""), err);
}

TEST(oci_auth, a_credential_helper_is_asked_and_no_shell)
{
	forget_user();
	const struct server server = start_basic();

	SYS(setenv("PATH", text("%s:%s", test_folder(), getenv("PATH")), 1));
	write_helper("good", "[ \"$1\" = get ] || exit 1\ncat >asked\n"
	                     "echo '{\"Username\":\"writer\","
	                     "\"Secret\":\"s3cret\"}'\n");
	write_helper("none", "echo 'credentials not found'\nexit 1\n");
	write_helper("garbled", "echo hello\n");
	OK(use_helper(server.port, "good", ERR));
	CHECK_STR(read_file("asked").data, text("127.0.0.1:%u", server.port));
	FAILS(use_helper(server.port, "none", ERR), TKB_ERR_DENIED,
	      "there are none for it");
	FAILS(use_helper(server.port, "garbled", ERR), TKB_ERR_DENIED,
	      "is not a user and a secret");
	FAILS(use_helper(server.port, "absent", ERR), TKB_ERR_DENIED,
	      "cannot run 'docker-credential-absent'");
	FAILS(use_helper(server.port, "x;touch hacked", ERR), TKB_ERR_DENIED,
	      "is not the name of a credential helper");
	CHECK(!exists("hacked"));
}

TEST(oci_auth, a_credential_helper_that_hangs_is_ended)
{
	forget_user();
	const struct server server = start_basic();
	TKB_AUTO(close_handle)
	struct handle handle = { .call = { .stall_ms = 2000 } };
	const struct tkb_digest digest = digest_of(make_bytes(10, 1));
	pid_t pid;

	SYS(setenv("PATH", text("%s:%s", test_folder(), getenv("PATH")), 1));
	write_helper("slow", "sleep 60 &\necho $! >pid\nwait\n");
	write_text("auth.json", text("{\"credsStore\":\"slow\"}"));
	SYS(setenv("REGISTRY_AUTH_FILE", text("%s/auth.json", test_folder()),
	           1));
	OK(open_handle(oci_url(server.port, ""), &handle, ERR));
	FAILS(ASK(&handle, drop, "ref", &digest, ERR), TKB_ERR_DENIED,
	      "'docker-credential-slow' does not answer within 2000 ms");
	pid = (pid_t)strtol(read_file("pid").data, NULL, 10);
	CHECK(pid > 0);
	for (int i = 0; i < 500 && kill(pid, 0) == 0; i++)
		nap_ms(10);
	CHECK(kill(pid, 0) < 0);
}

TEST(oci_auth, a_file_that_is_none_is_one_sentence)
{
	forget_user();
	const struct server server = start_basic();

	SYS(setenv("REGISTRY_AUTH_FILE", text("%s/auth.json", test_folder()),
	           1));
	write_text("auth.json", "{\"auths\":");
	FAILS(use(oci_url(server.port, ""), ERR), TKB_ERR_DENIED,
	      "auth.json' is not a file of credentials");
	SYS(unlink("auth.json"));
	SYS(mkdir("auth.json", 0700));
	FAILS(use(oci_url(server.port, ""), ERR), TKB_ERR_DENIED,
	      "auth.json' is not a file of credentials");
}

/* A server of tokens, and a registry that wants them. */
static struct server start_tokens(unsigned lifetime_s)
{
	make_authority("ca");
	make_certificate("tokens", "ca", "DNS:localhost", 2);
	const struct server tokens = start_python(
		TKB_TOKEN_SERVER,
		text("tokens.key tokens.pem %u tokens.log", lifetime_s));
	return start_registry(text("auth:\n  token:\n"
	                           "    realm: http://127.0.0.1:%u/token\n"
	                           "    service: tests\n    issuer: tests\n"
	                           "    rootcertbundle: %s/ca.pem\n",
	                           tokens.port, test_folder()));
}

TEST(oci_auth, tokens_are_got_for_what_is_wanted)
{
	forget_user();
	const struct server server = start_tokens(300);
	struct notebook *notebook = new_notebook();
	const struct tkb_ref_visitor visitor = ref_visitor(notebook);
	struct handle *anybody = must_connect(oci_url(server.port, ""));

	OK(use(oci_url(server.port, WRITER "@"), ERR));
	/* A token for all that was wanted before, too. */
	CHECK(strstr(read_file("tokens.log").data,
	             "writer repository:team/kernels:pull,push,delete") !=
	      NULL);
	OK(ASK(anybody, refs, &visitor, ERR));
	FAILS(use(oci_url(server.port, ""), ERR), TKB_ERR_DENIED,
	      "it wants other credentials: HTTP 401");
	FAILS(use(oci_url(server.port, "writer:wrong@"), ERR), TKB_ERR_DENIED,
	      "gives no token for 'repository:team/kernels:pull");
}

/* The file of credentials has a token that gives tokens. */
static void have_identity_token(unsigned port)
{
	write_text("auth.json",
	           text("{\"auths\":{\"127.0.0.1:%u\":{\"identitytoken\":"
	                "\"again\"}}}",
	                port));
	SYS(setenv("REGISTRY_AUTH_FILE", text("%s/auth.json", test_folder()),
	           1));
}

/* A mount wants a right in the other repository, too. */
TEST(oci_auth, a_token_for_two_repositories_is_got_to_mount)
{
	forget_user();
	const struct server server = start_tokens(300);
	const struct tkb_bytes bytes = make_bytes(1000, 1);
	const char *url = text("oci://" WRITER
	                       "@127.0.0.1:%u/team/prod?mount=team/kernels",
	                       server.port);

	(void)must_put(must_connect(oci_url(server.port, WRITER "@")), bytes);
	struct handle *handle = must_connect(url);
	struct tkb_digest digest = must_put(handle, bytes);
	check_blob(handle, &digest, 0, bytes);
	const char *log = read_file("tokens.log").data;
	CHECK(strstr(log, "repository:team/kernels:pull\n") != NULL);
	CHECK(strstr(log, "writer repository:team/prod:pull,push "
	                  "repository:team/kernels:pull\n") != NULL);
	log = read_file(text("registry-%u.log", server.port)).data;
	CHECK(strstr(log, "\"PUT /v2/team/prod/blobs/uploads/") == NULL);
	/* By a token that gives tokens, in one form. */
	have_identity_token(server.port);
	OK(use(text("oci://127.0.0.1:%u/team/last?mount=team/kernels",
	            server.port),
	       ERR));
}

TEST(oci_auth, a_token_that_gives_tokens_is_used)
{
	forget_user();
	const struct server server = start_tokens(300);

	have_identity_token(server.port);
	OK(use(oci_url(server.port, ""), ERR));
}

/* Ten seconds before its end a token is renewed: these last one more. */
TEST(oci_auth, a_token_that_ends_is_renewed)
{
	forget_user();
	const struct server server = start_tokens(11);
	struct handle *handle = must_connect(oci_url(server.port, WRITER "@"));
	const struct tkb_digest digest = must_put(handle, make_bytes(1000, 1));
	const size_t size = read_file("tokens.log").size;

	nap_ms(1100);
	CHECK(is_there(handle, &digest));
	CHECK(read_file("tokens.log").size > size);
}

TEST(oci_auth, a_certificate_is_checked_before_anything_is_said)
{
	forget_user();
	make_certified("DNS:localhost", 2);
	write_passwords();
	const struct server server = start_registry(
		text("  tls:\n    certificate: %s/server.pem\n"
	             "    key: %s/server.key\n%s",
	             test_folder(), test_folder(), basic_auth()));
	const char *url =
		text("oci://" WRITER "@localhost:%u/a?cafile=%s/ca.pem",
	             server.port, test_folder());
	const char *other =
		text("oci://" WRITER "@127.0.0.1:%u/a?cafile=%s/ca.pem",
	             server.port, test_folder());

	OK(use(url, ERR));
	FAILS(use(other, ERR), TKB_ERR_DENIED,
	      "its certificate is not accepted");
}

static void check_challenge(const char *challenge, int status, const char *part)
{
	struct server server = start_answer(
		"/v2/", text("HTTP/1.1 401 Who\r\nWWW-Authenticate: %s\r\n"
	                     "Content-Length: 0\r\n\r\n",
	                     challenge));

	FAILS(use(oci_url(server.port, WRITER "@"), ERR), status, part);
}

TEST(oci_auth, a_challenge_that_makes_no_sense_is_one_sentence)
{
	forget_user();
	check_challenge("Digest realm=\"x\"", TKB_ERR_DENIED,
	                "it wants credentials, but does not say which");
	check_challenge("Bearer service=\"x\"", TKB_ERR_UNAVAILABLE,
	                "it does not name its token server");
	check_challenge("Bearer realm=\"file:///etc/passwd\"",
	                TKB_ERR_UNAVAILABLE,
	                "it does not name its token server");
	check_challenge("Basic realm=\"x\"", TKB_ERR_DENIED,
	                "it wants other credentials: HTTP 401");
}

/* It takes no token and always asks for one: two requests are sent twice. */
TEST(oci_auth, a_registry_that_wants_a_scope_twice_is_left)
{
	static const struct web_answer given = { "GET /token",
		                                 OKAY(13, "{\"token\":\"t\"}"),
		                                 false };
	forget_user();
	struct server tokens = start_script(&given, 1);

	check_challenge(text("Bearer realm=\"http://127.0.0.1:%u/token\","
	                     "service=\"s\",scope=\"repository:team/kernels:"
	                     "pull\"",
	                     tokens.port),
	                TKB_ERR_DENIED, "it wants other credentials: HTTP 401");
	CHECK_INT(count_parts(requests_so_far(), "/v2/team/kernels/blobs/"), 4);
	CHECK_INT(count_parts(requests_so_far(), "GET /token"), 1);
	CHECK_INT(count_parts(requests_so_far(), "Authorization: Bearer t"), 2);
}

TEST(oci_auth, a_server_that_it_redirects_to_sees_no_credentials)
{
	const struct tkb_digest digest = digest_of(make_bytes(10, 1));
	BUF(out, 100);

	forget_user();
	struct server other =
		start_answer("/elsewhere", EMPTY("404 Not Found"));
	const struct web_answer answers[] = {
		ANSWERED("/blobs/", text(MOVED("307 There",
		                               "http://127.0.0.1:%u/elsewhere"),
		                         other.port)),
		ANSWERED("/manifests/", "HTTP/1.1 401 Who\r\nWWW-Authenticate: "
		                        "Basic realm=\"x\"\r\n"
		                        "Content-Length: 0\r\n\r\n"),
	};
	struct server server = start_script(answers, 2);

	struct handle *handle = must_connect(oci_url(server.port, WRITER "@"));
	FAILS(ASK(handle, touch, "ref", &digest, ERR), TKB_ERR_DENIED,
	      "it wants other credentials");
	write_text("requests", "");
	CHECK_INT(get(handle, &digest, 0, &out, ERR), TKB_MISS);
	CHECK_INT(count_parts(requests_so_far(), "/elsewhere"), 1);
	CHECK_INT(count_parts(requests_so_far(), "Authorization:"), 1);
}
