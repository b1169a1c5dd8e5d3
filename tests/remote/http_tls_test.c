/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>

#include "fake_http.h"
#include "nginx.h"
#include "remote/backends.h"

/* The HTTP backend under TLS, against the real nginx. */

/* With certificate `name`; `more` lines besides. */
static struct server start_tls(const char *name, const char *more)
{
	return start_nginx(text("%s%s%s", nginx_tls(name), more, nginx_dav()));
}

static const char *tls_url(const struct server *server, const char *host,
                           const char *rest)
{
	return text("https://%s:%u%s", host, server->tls_port, rest);
}

static void check_works(const char *url)
{
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB + 7, 1);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	struct tkb_digest digest;

	CHECK_OK(open_http(url, &handle, &err), &err);
	digest = must_put(&handle, bytes);
	check_blob(&handle, &digest, 0, bytes);
	check_blob(&handle, &digest, TKB_MIB,
	           tkb_bytes_slice(bytes, TKB_MIB, bytes.size));
	(void)must_add(&handle, "ref", bytes);
	CHECK_INT(list_records(&handle, "ref")->count, 1);
}

/* What is wrong is found when something is asked for, whatever that is. */
static void check_refused(const char *url, int status, const char *part)
{
	const struct tkb_digest digest = made_up(1);
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	bool answer = false;
	int rc;

	rc = open_http(url, &handle, &err);
	if (rc < 0) {
		CHECK_FAILS(rc, status, &err, part);
		return;
	}
	CHECK_FAILS(tkb_backend_http.has(handle.self, &handle.call, &digest, 1,
	                                 &answer, NULL, &err),
	            status, &err, part);
	err = (struct tkb_error){ 0 };
	CHECK_FAILS(tkb_backend_http.records(handle.self, &handle.call, "ref",
	                                     &visitor, &err),
	            status, &err, part);
}

TEST(http_tls, a_server_of_a_known_authority_is_trusted)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost,IP:127.0.0.1", 2);
	server = start_tls("server", "");
	check_works(tls_url(&server, "localhost", "?cafile=ca.pem"));
	check_works(
		tls_url(&server, "127.0.0.1", "?cafile=ca.pem&verify=true"));
	stop_server(&server, SIGKILL);
}

TEST(http_tls, a_server_of_an_unknown_authority_is_not)
{
	struct server server;

	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_tls("server", "");
	check_refused(tls_url(&server, "localhost", "?cafile=other.pem"),
	              TKB_ERR_DENIED, "its certificate is not accepted: ");
	check_refused(tls_url(&server, "localhost", ""), TKB_ERR_DENIED,
	              "its certificate is not accepted: ");
	stop_server(&server, SIGKILL);
}

TEST(http_tls, without_verification_it_works_and_is_loud)
{
	TKB_AUTO(close_remote) struct tkb_remote *remote = NULL;
	struct tkb_error err = { 0 };
	struct server server;
	const char *url;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:other", -1);
	server = start_tls("server", "");
	url = tls_url(&server, "localhost", "?verify=false");
	check_works(url);
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "its certificate is not accepted: ");
	CHECK_OK(tkb_remote_open(url, NULL, &remote, &err), &err);
	CHECK_CONTAINS(tkb_remote_tier_warning(remote, 0), "verify=false");
	stop_server(&server, SIGKILL);
}

TEST(http_tls, a_certificate_for_another_name_is_refused)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:cache.test,IP:127.0.0.2", 2);
	server = start_tls("server", "");
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED,
	              "its certificate is not accepted: no alternative "
	              "certificate subject name matches");
	check_refused(tls_url(&server, "127.0.0.1", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "its certificate is not accepted: ");
	check_refused(tls_url(&server, "localhost",
	                      "?cafile=ca.pem&server-name=cache.tes"),
	              TKB_ERR_DENIED, "its certificate is not accepted: ");
	check_works(tls_url(&server, "localhost",
	                    "?cafile=ca.pem&server-name=cache.test"));
	check_works(tls_url(&server, "127.0.0.1",
	                    "?cafile=ca.pem&server-name=127.0.0.2"));
	stop_server(&server, SIGKILL);
}

/* It is told the old one, and asked for the certificate of the new one. */
TEST(http_tls, a_server_under_another_name_is_told_both)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:cache.test", 2);
	server = start_tls("server",
	                   "if ($host != \"localhost\") { return 418; }\n"
	                   "if ($ssl_server_name != \"cache.test\") "
	                   "{ return 418; }\n");
	check_works(tls_url(&server, "localhost",
	                    "/a?cafile=ca.pem&server-name=cache.test"));
	stop_server(&server, SIGKILL);
}

TEST(http_tls, an_expired_certificate_is_refused)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", -1);
	server = start_tls("server", "");
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "certificate has expired");
	stop_server(&server, SIGKILL);
}

/* nginx says so in HTTP; others break off. */
TEST(http_tls, a_client_certificate_is_shown_where_it_is_wanted)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf both = TKB_BUF_INIT(65536);
	struct server server;

	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	make_certificate("stranger", "other", "DNS:client", 2);
	tkb_buf_add(&both, read_file("client.pem"));
	tkb_buf_add(&both, read_file("client.key"));
	write_file("both.pem", tkb_buf_bytes(&both));
	server = start_tls("server", text("ssl_verify_client on;\n"
	                                  "ssl_client_certificate %s/ca.pem;\n",
	                                  test_folder()));
	check_works(tls_url(&server, "localhost",
	                    "?cafile=ca.pem&cert=client.pem&key=client.key"));
	check_works(
		tls_url(&server, "localhost", "?cafile=ca.pem&cert=both.pem"));
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "HTTP 400");
	check_refused(
		tls_url(&server, "localhost",
	                "?cafile=ca.pem&cert=stranger.pem&key=stranger.key"),
		TKB_ERR_DENIED, "HTTP 400");
	stop_server(&server, SIGKILL);
}

static const char *const versions[] = { "-tls1_2", "-tls1_3" };

/* Each version of TLS says it at another moment. */
TEST(http_tls, a_server_that_breaks_off_for_want_of_one_is_denied)
{
	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	for (size_t i = 0; i < TKB_COUNT_OF(versions); i++) {
		const unsigned port = free_port();
		struct server server;

		CHECK(start_server(&server, port, "log", "openssl", "s_server",
		                   "-accept", text("127.0.0.1:%u", port),
		                   "-cert", "server.pem", "-key", "server.key",
		                   "-CAfile", "ca.pem", "-Verify", "1", "-www",
		                   versions[i], NULL));
		server.tls_port = port;
		check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
		              TKB_ERR_DENIED,
		              "it does not accept our certificate: ");
		stop_server(&server, SIGKILL);
	}
}

TEST(http_tls, files_that_cannot_be_used_are_named)
{
	struct server server;
	struct outcome outcome;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	server = start_tls("server", "");
	outcome = run("openssl", "pkey", "-in", "client.key", "-aes256",
	              "-passout", "pass:1234", "-out", "locked.key", NULL);
	CHECK_INT(outcome.status, 0);
	check_refused(tls_url(&server, "localhost", "?cafile=none.pem"),
	              TKB_ERR_INVALID,
	              "cannot use the CA certificates in 'none.pem'");
	check_refused(tls_url(&server, "localhost", "?cafile=ca.key"),
	              TKB_ERR_INVALID,
	              "cannot use the CA certificates in 'ca.key'");
	check_refused(
		tls_url(&server, "localhost", "?cafile=ca.pem&cert=none.pem"),
		TKB_ERR_INVALID, "cannot use the certificate in 'none.pem'");
	check_refused(tls_url(&server, "localhost",
	                      "?cafile=ca.pem&cert=client.pem&key=server.key"),
	              TKB_ERR_INVALID, "the private key in 'server.key'");
	check_refused(tls_url(&server, "localhost",
	                      "?cafile=ca.pem&cert=client.pem&key=locked.key"),
	              TKB_ERR_INVALID, "the private key in 'locked.key'");
	check_refused(
		tls_url(&server, "localhost", "?cafile=ca.pem&key=client.key"),
		TKB_ERR_INVALID, "a key without a certificate");
	stop_server(&server, SIGKILL);
}

TEST(http_tls, requests_share_a_connection_of_http_2)
{
	enum {
		COUNT = 600
	};
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_digest *digests = test_alloc(COUNT * sizeof(*digests));
	bool *answers = test_alloc(COUNT * sizeof(*answers));
	struct tkb_error err = { 0 };
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_tls("server", "");
	CHECK_OK(open_http(tls_url(&server, "localhost", "?cafile=ca.pem"),
	                   &handle, &err),
	         &err);
	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = made_up(i);
	CHECK_OK(tkb_backend_http.has(handle.self, &handle.call, digests, COUNT,
	                              answers, NULL, &err),
	         &err);
	CHECK_INT(count_requests(" HTTP/2.0 HEAD ", COUNT), COUNT);
	CHECK_INT(count_requests("", COUNT), COUNT);
	CHECK_INT(count_connections(), 1);
	stop_server(&server, SIGKILL);
}

TEST(http_tls, a_redirect_out_of_tls_is_not_followed)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_nginx(text("%slocation / { return 302 "
	                          "http://localhost/x?token=s3cret; }\n",
	                          nginx_tls("server")));
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "it redirects from https to http");
	stop_server(&server, SIGKILL);
}

TEST(http_tls, a_server_without_tls_is_told_from_one_with_it)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_tls("server", "");
	check_refused(text("https://localhost:%u?cafile=ca.pem", server.port),
	              TKB_ERR_UNAVAILABLE, "TLS failed: wrong version number");
	check_refused(text("http://localhost:%u", server.tls_port),
	              TKB_ERR_DENIED, "HTTP 400");
	stop_server(&server, SIGKILL);
}

/* Kills a server when half of it has been read. */
struct assassin {
	struct server *server;
	uint64_t limit;
};

static int kill_at_half(void *self, uint64_t offset, void *data, size_t size,
                        size_t *got_out, struct tkb_error *err)
{
	struct assassin *assassin = self;

	(void)err;
	if (offset >= assassin->limit)
		stop_server(assassin->server, SIGKILL);
	memset(data, 1, size);
	*got_out = size;
	return 0;
}

static void check_death(struct server *server, const char *url)
{
	const struct tkb_digest digest = made_up(1);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	struct assassin assassin = { server, 8 * TKB_MIB };
	const struct tkb_blob blob = { 64 * TKB_MIB,
		                       { kill_at_half, &assassin } };
	sigset_t blocked;

	CHECK_OK(open_http(url, &handle, &err), &err);
	CHECK_FAILS(tkb_backend_http.put(handle.self, &handle.call, &digest,
	                                 &blob, &err),
	            TKB_ERR_UNAVAILABLE, &err, "it closed the connection");
	close_handle(&handle);
	CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &blocked), 0);
	CHECK(!sigismember(&blocked, SIGPIPE));
	CHECK_INT(sigpending(&blocked), 0);
	CHECK(!sigismember(&blocked, SIGPIPE));
}

/* SIGPIPE would end this program. */
TEST(http_tls, a_server_that_dies_in_the_middle_is_unavailable)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_tls("server", "");
	check_death(&server, tls_url(&server, "localhost", "?cafile=ca.pem"));
	server = start_nginx(nginx_dav());
	check_death(&server, http_url(&server, ""));
}
