/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "fake_http.h"
#include "fake_redis.h"
#include "nginx.h"
#include "tls_fixture.h"

/* TLS, against the real redis-server and nginx. */

static void check_trusted(const struct tls_target *target)
{
	check_works(target, "localhost", "?cafile=ca.pem");
	check_works(target, "127.0.0.1", "?cafile=ca.pem");
	check_works(target, "127.0.0.1", "?cafile=ca.pem&verify=true");
}

TEST(tls, a_server_of_a_known_authority_is_trusted)
{
	make_certified("DNS:localhost,IP:127.0.0.1", 2);
	check_each("server", NO_CERTIFICATE, check_trusted);
}

static void check_unknown(const struct tls_target *target)
{
	check_denied(target, "localhost", "?cafile=other.pem",
	             "its certificate is not accepted: ");
	check_denied(target, "localhost", "",
	             "its certificate is not accepted: ");
	check_works(target, "localhost", "?verify=false");
}

TEST(tls, a_server_of_an_unknown_authority_is_not)
{
	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost,IP:127.0.0.1", 2);
	check_each("server", NO_CERTIFICATE, check_unknown);
}

static void check_loud(const struct tls_target *target)
{
	const char *url = tls_url(target, "localhost", "?verify=false");

	check_url_works(url);
	check_denied(target, "localhost", "?cafile=ca.pem",
	             "its certificate is not accepted: ");
	struct tkb_remote *remote = must_open_remote(url, NULL);
	CHECK_CONTAINS(tkb_remote_tier_warning(remote, 0), "verify=false");
}

TEST(tls, without_verification_it_works_and_is_loud)
{
	make_certified("DNS:other", -1);
	check_each("server", NO_CERTIFICATE, check_loud);
}

static void check_names(const struct tls_target *target)
{
	static const char mismatch[] = "its certificate is not accepted: no "
				       "alternative certificate subject name "
				       "matches";

	check_denied(target, "localhost", "?cafile=ca.pem", mismatch);
	check_denied(target, "127.0.0.1", "?cafile=ca.pem", mismatch);
	check_denied(target, "localhost",
	             "?cafile=ca.pem&server-name=cache.tes", mismatch);
	check_works(target, "localhost",
	            "?cafile=ca.pem&server-name=cache.test");
	check_works(target, "localhost",
	            "?cafile=ca.pem&server-name=127.0.0.2");
	check_works(target, "127.0.0.1",
	            "?cafile=ca.pem&server-name=127.0.0.2");
	check_works(target, "localhost", "?verify=false");
}

TEST(tls, a_certificate_for_another_name_is_refused)
{
	make_certified("DNS:cache.test,IP:127.0.0.2", 2);
	check_each("server", NO_CERTIFICATE, check_names);
}

static void check_expired(const struct tls_target *target)
{
	check_denied(target, "localhost", "?cafile=ca.pem",
	             "certificate has expired");
	check_works(target, "localhost", "?verify=false");
}

TEST(tls, an_expired_certificate_is_refused)
{
	make_certified("DNS:localhost", -1);
	check_each("server", NO_CERTIFICATE, check_expired);
}

static void check_clients(const struct tls_target *target)
{
	const char *refusal = target->kind->refusal;

	check_works(target, "localhost",
	            "?cafile=ca.pem&cert=client.pem&key=client.key");
	check_works(target, "localhost", "?cafile=ca.pem&cert=both.pem");
	check_denied(target, "localhost", "?cafile=ca.pem", refusal);
	check_denied(target, "localhost",
	             "?cafile=ca.pem&cert=stranger.pem&key=stranger.key",
	             refusal);
	check_denied(target, "localhost",
	             "?cafile=ca.pem&cert=late.pem&key=late.key", refusal);
}

/* Each version of TLS says it at another moment. */
TEST(tls, a_client_certificate_is_shown_where_it_is_wanted)
{
	BUF(both, 65536);

	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	make_certificate("stranger", "other", "DNS:client", 2);
	make_certificate("late", "ca", "DNS:client", -1);
	tkb_buf_add(&both, read_file("client.pem"));
	tkb_buf_add(&both, read_file("client.key"));
	write_file("both.pem", tkb_buf_bytes(&both));
	check_each("server", CERTIFICATE_1_2, check_clients);
	check_each("server", CERTIFICATE_1_3, check_clients);
}

TEST(tls, a_server_that_breaks_off_for_want_of_one_is_denied)
{
	static const char *const versions[] = { "-tls1_2", "-tls1_3" };

	make_certified("DNS:localhost", 2);
	for (size_t i = 0; i < TKB_COUNT_OF(versions); i++) {
		const unsigned port = free_port();
		struct tls_target target = { .kind = &tls_kinds[1] };

		CHECK(start_server(
			&target.server, port, "log", "openssl", "s_server",
			"-accept", text("127.0.0.1:%u", port), "-cert",
			"server.pem", "-key", "server.key", "-CAfile", "ca.pem",
			"-Verify", "1", "-www", versions[i], NULL));
		target.server.tls_port = port;
		check_denied(&target, "localhost", "?cafile=ca.pem",
		             "it does not accept our certificate: ");
		stop_server(&target.server, SIGKILL);
	}
}

static void check_files(const struct tls_target *target)
{
	check_invalid(target, "?cafile=none.pem",
	              "cannot use the CA certificates in 'none.pem'");
	check_invalid(target, "?cafile=ca.key",
	              "cannot use the CA certificates in 'ca.key'");
	check_invalid(target, "?cafile=ca.pem&cert=none.pem",
	              "cannot use the certificate in 'none.pem'");
	check_invalid(target, "?cafile=ca.pem&cert=client.pem&key=server.key",
	              "the private key in 'server.key'");
	check_invalid(target, "?cafile=ca.pem&cert=client.pem&key=locked.key",
	              "the private key in 'locked.key'");
	check_invalid(target, "?cafile=ca.pem&key=client.key",
	              "a key without a certificate");
}

TEST(tls, files_that_cannot_be_used_are_named)
{
	make_certified("DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	CHECK_INT(run("openssl", "pkey", "-in", "client.key", "-aes256",
	              "-passout", "pass:1234", "-out", "locked.key", NULL)
	                  .status,
	          0);
	check_each("server", NO_CERTIFICATE, check_files);
}

static void answer_in_the_clear(int fd, void *self)
{
	char bytes[4096];

	(void)self;
	if (recv(fd, bytes, sizeof(bytes), 0) > 0)
		(void)send(fd, "-ERR what?\r\n", 12, 0);
}

static void read_and_leave(int fd, void *self)
{
	char bytes[4096];

	(void)self;
	(void)recv(fd, bytes, sizeof(bytes), 0);
}

TEST(tls, a_server_that_leaves_at_once_is_said_to)
{
	static const char *const schemes[] = { "https", "rediss" };
	struct server fake = start_fake(read_and_leave, NULL);

	for (size_t i = 0; i < TKB_COUNT_OF(schemes); i++)
		check_url_refused(
			text("%s://localhost:%u", schemes[i], fake.port),
			TKB_ERR_UNAVAILABLE, "it closed the connection");
}

static void check_mixed_up(const struct tls_target *target)
{
	const struct tls_kind *kind = target->kind;
	struct server fake = start_fake(answer_in_the_clear, NULL);

	check_url_refused(text("%s://localhost:%u?cafile=ca.pem", kind->scheme,
	                       fake.port),
	                  TKB_ERR_UNAVAILABLE,
	                  "TLS failed: wrong version number");
	/* Redis would wait for the rest of a command. */
	if (kind == &tls_kinds[1])
		check_url_refused(text("https://localhost:%u?cafile=ca.pem",
		                       target->server.port),
		                  TKB_ERR_UNAVAILABLE,
		                  "TLS failed: wrong version number");
	check_url_refused(text("%s://localhost:%u", kind->clear_scheme,
	                       target->server.tls_port),
	                  kind->clear_status, kind->clear_refusal);
}

TEST(tls, a_server_without_it_is_told_from_one_with_it)
{
	make_certified("DNS:localhost", 2);
	check_each("server", NO_CERTIFICATE, check_mixed_up);
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
	struct assassin assassin = { server, 8 * TKB_MIB };
	const struct tkb_blob blob = { 64 * TKB_MIB,
		                       { kill_at_half, &assassin } };
	sigset_t blocked;
	struct handle *handle = must_connect(url);

	FAILS(ASK(handle, put, &digest, &blob, ERR), TKB_ERR_UNAVAILABLE,
	      "it closed the connection");
	close_handle(handle);
	SYS(sigprocmask(SIG_SETMASK, NULL, &blocked));
	CHECK(!sigismember(&blocked, SIGPIPE));
	CHECK_INT(sigpending(&blocked), 0);
	CHECK(!sigismember(&blocked, SIGPIPE));
}

/* SIGPIPE would end this program. */
TEST(tls, a_server_that_dies_in_the_middle_is_unavailable)
{
	struct server server;

	make_certified("DNS:localhost", 2);
	for (size_t i = 0; i < TLS_KINDS; i++) {
		struct tls_target target = {
			&tls_kinds[i],
			tls_kinds[i].start("server", NO_CERTIFICATE)
		};

		check_death(&target.server,
		            tls_url(&target, "localhost", "?cafile=ca.pem"));
	}
	server = start_nginx(nginx_dav());
	check_death(&server, http_url(&server, ""));
}

/* The server is told the old name, and asked for the certificate of the new. */
TEST(tls, an_http_server_under_another_name_is_told_both)
{
	struct tls_target target = { .kind = &tls_kinds[1] };

	make_certified("DNS:cache.test", 2);
	target.server = start_nginx(
		text("%sif ($host != \"localhost\") { return 418; }\n"
	             "if ($ssl_server_name != \"cache.test\") "
	             "{ return 418; }\n%s",
	             nginx_tls("server"), nginx_dav()));
	check_works(&target, "localhost",
	            "/a?cafile=ca.pem&server-name=cache.test");
	stop_server(&target.server, SIGKILL);
}

/* With its path alone, and with the name in the certificate. */
TEST(tls, a_redirect_on_a_server_under_another_name_is_followed)
{
	static const char *const servers[] = {
		"", "https://cache.test:$server_port"
	};
	struct tls_target target = { .kind = &tls_kinds[1] };

	make_certified("DNS:cache.test", 2);
	for (size_t i = 0; i < TKB_COUNT_OF(servers); i++) {
		target.server = start_nginx(
			text("%sif ($host != \"localhost\") { return 418; }\n"
		             "absolute_redirect off;\n"
		             "location ~ ^/old/(.*)$ { client_max_body_size 0; "
		             "return 307 %s/$1; }\n%s",
		             nginx_tls("server"), servers[i], nginx_dav()));
		check_works(&target, "localhost",
		            "/old?cafile=ca.pem&server-name=cache.test");
		stop_server(&target.server, SIGKILL);
	}
}

TEST(tls, http_requests_share_a_connection_of_http_2)
{
	enum {
		COUNT = 600
	};
	struct tkb_digest *digests = test_alloc(COUNT * sizeof(*digests));
	bool *answers = test_alloc(COUNT * sizeof(*answers));
	struct tls_target target = { .kind = &tls_kinds[1] };

	if ((curl_version_info(CURLVERSION_NOW)->features &
	     CURL_VERSION_HTTP2) == 0)
		skip(); /* as that of the wheels */
	make_certified("DNS:localhost", 2);
	target.server = start_tls_nginx("server", NO_CERTIFICATE);
	struct handle *handle =
		must_connect(tls_url(&target, "localhost", "?cafile=ca.pem"));
	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = made_up(i);
	OK(ASK(handle, has, digests, COUNT, answers, NULL, ERR));
	CHECK_INT(count_requests(" HTTP/2.0 HEAD ", COUNT), COUNT);
	CHECK_INT(count_requests("", COUNT), COUNT);
	CHECK_INT(count_connections(), 1);
	stop_server(&target.server, SIGKILL);
}

/* HTTP/1.1 under TLS; each answer takes as many seconds as told. */
static const char slow_server[] =
	"import http.server, ssl, sys, time\n"
	"class Handler(http.server.BaseHTTPRequestHandler):\n"
	"    protocol_version = 'HTTP/1.1'\n"
	"    def do_HEAD(self):\n"
	"        time.sleep(float(sys.argv[2]))\n"
	"        self.send_response(404)\n"
	"        self.send_header('Content-Length', '0')\n"
	"        self.end_headers()\n"
	"address = '127.0.0.1', int(sys.argv[1])\n"
	"http.server.ThreadingHTTPServer.request_queue_size = 64\n"
	"server = http.server.ThreadingHTTPServer(address, Handler)\n"
	"context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
	"context.load_cert_chain('server.pem', 'server.key')\n"
	"server.socket = context.wrap_socket(\n"
	"    server.socket, server_side=True, do_handshake_on_connect=False)\n"
	"server.serve_forever()\n";

/* Ask for many blobs at once; one of HTTP/2 may redirect to the slow server. */
static int ask_slow_server(const char *seconds, bool is_behind,
                           uint32_t connect_ms, uint32_t stall_ms)
{
	enum {
		COUNT = 80
	};
	const unsigned port = free_port();
	struct tkb_digest digests[COUNT];
	bool answers[COUNT];
	struct server server;
	struct server front = { .tls_port = port };

	make_certified("DNS:localhost", 2);
	CHECK(start_server(&server, port, "log", "python3", "-c", slow_server,
	                   text("%u", port), seconds, NULL));
	if (is_behind)
		front = start_nginx(
			text("%sreturn 307 https://localhost:%u$request_uri;\n",
		             nginx_tls("server"), port));
	struct handle *handle = must_connect(
		text("https://localhost:%u?cafile=ca.pem", front.tls_port));
	for (uint32_t i = 0; i < COUNT; i++)
		digests[i] = made_up(i);
	handle->call.connect_ms = connect_ms;
	handle->call.stall_ms = stall_ms;
	int rc = ASK(handle, has, digests, COUNT, answers, NULL, ERR);
	stop_server(&server, SIGKILL);
	if (is_behind)
		stop_server(&front, SIGKILL);
	return rc;
}

/* libcurl 8.14 counts the wait for a connection as a part of connecting. */
TEST(tls, many_questions_to_a_slow_server_are_no_failure_to_connect)
{
	OK(ask_slow_server("0.1", false, 500, 5000));
	OK(ask_slow_server("0.1", true, 500, 5000));
}

/* The first is asked alone, and none of the others after it. */
TEST(tls, many_questions_to_a_server_that_falls_silent_end_soon)
{
	const uint64_t began_ms = now_ms();

	FAILS(ask_slow_server("60", false, 5000, 200), TKB_ERR_UNAVAILABLE,
	      "no byte moved for 200 ms (stall-timeout)");
	CHECK(now_ms() - began_ms < 8000);
}

TEST(tls, a_redirect_out_of_tls_is_not_followed)
{
	struct tls_target target = { .kind = &tls_kinds[1] };

	make_certified("DNS:localhost", 2);
	target.server = start_nginx(text("%slocation / { return 302 "
	                                 "http://localhost/x?token=s3cret; }\n",
	                                 nginx_tls("server")));
	check_denied(&target, "localhost", "?cafile=ca.pem",
	             "it redirects from https to http");
	stop_server(&target.server, SIGKILL);
}
