/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/socket.h>

#include "fake_redis.h"
#include "remote/backends.h"

/* The Redis backend under TLS, against the real redis-server. */

/* With certificate `name`; `more` lines besides. */
static struct server start_tls(const char *name, const char *more)
{
	return start_redis(text("tls-cert-file %s/%s.pem\n"
	                        "tls-key-file %s/%s.key\n"
	                        "tls-ca-cert-file %s/ca.pem\n%s",
	                        test_folder(), name, test_folder(), name,
	                        test_folder(), more));
}

/* It wants no certificate of its clients. */
static struct server start_open(const char *name)
{
	return start_tls(name, "tls-auth-clients no\n");
}

static const char *tls_url(const struct server *server, const char *host,
                           const char *rest)
{
	return text("rediss://%s:%u%s", host, server->tls_port, rest);
}

static void check_works(const char *url)
{
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB + 7, 1);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	struct tkb_digest digest;

	CHECK_OK(open_redis(url, &handle, &err), &err);
	digest = must_put(&handle, bytes);
	check_blob(&handle, &digest, 0, bytes);
	(void)must_add(&handle, "ref", bytes);
	CHECK_INT(list_records(&handle, "ref")->count, 1);
	close_handle(&handle);
}

static void check_refused(const char *url, int status, const char *part)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };

	CHECK_FAILS(open_redis(url, &handle, &err), status, &err, part);
}

TEST(redis_tls, a_server_of_a_known_authority_is_trusted)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost,IP:127.0.0.1", 2);
	server = start_open("server");
	check_works(tls_url(&server, "localhost", "?cafile=ca.pem"));
	check_works(tls_url(&server, "127.0.0.1", "?cafile=ca.pem"));
	check_works(
		tls_url(&server, "127.0.0.1", "?cafile=ca.pem&verify=true"));
	stop_server(&server, SIGKILL);
}

TEST(redis_tls, a_server_of_an_unknown_authority_is_not)
{
	struct server server;

	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost,IP:127.0.0.1", 2);
	server = start_open("server");
	check_refused(tls_url(&server, "localhost", "?cafile=other.pem"),
	              TKB_ERR_DENIED, "its certificate is not accepted");
	check_refused(tls_url(&server, "localhost", ""), TKB_ERR_DENIED,
	              "its certificate is not accepted");
	check_works(tls_url(&server, "localhost", "?verify=false"));
	stop_server(&server, SIGKILL);
}

TEST(redis_tls, a_certificate_for_another_name_is_refused)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:cache.test,IP:127.0.0.2", 2);
	server = start_open("server");
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "hostname mismatch");
	check_refused(tls_url(&server, "127.0.0.1", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "IP address mismatch");
	check_refused(tls_url(&server, "localhost",
	                      "?cafile=ca.pem&server-name=cache.tes"),
	              TKB_ERR_DENIED, "hostname mismatch");
	check_works(tls_url(&server, "localhost",
	                    "?cafile=ca.pem&server-name=cache.test"));
	check_works(tls_url(&server, "localhost",
	                    "?cafile=ca.pem&server-name=127.0.0.2"));
	check_works(tls_url(&server, "localhost", "?verify=false"));
	stop_server(&server, SIGKILL);
}

TEST(redis_tls, an_expired_certificate_is_refused)
{
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", -1);
	server = start_open("server");
	check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
	              TKB_ERR_DENIED, "certificate has expired");
	check_works(tls_url(&server, "localhost", "?verify=false"));
	stop_server(&server, SIGKILL);
}

/* Each version of TLS says it at another moment. */
TEST(redis_tls, a_client_certificate_is_shown_where_it_is_wanted)
{
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };

	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	make_certificate("stranger", "other", "DNS:client", 2);
	make_certificate("late", "ca", "DNS:client", -1);
	for (size_t i = 0; i < TKB_COUNT_OF(versions); i++) {
		struct server server = start_tls(
			"server", text("tls-protocols %s\n", versions[i]));

		check_works(tls_url(&server, "localhost",
		                    "?cafile=ca.pem&cert=client.pem&"
		                    "key=client.key"));
		check_refused(tls_url(&server, "localhost", "?cafile=ca.pem"),
		              TKB_ERR_DENIED,
		              "does not accept our certificate");
		check_refused(tls_url(&server, "localhost",
		                      "?cafile=ca.pem&cert=stranger.pem&"
		                      "key=stranger.key"),
		              TKB_ERR_DENIED,
		              "does not accept our certificate");
		check_refused(tls_url(&server, "localhost",
		                      "?cafile=ca.pem&cert=late.pem&"
		                      "key=late.key"),
		              TKB_ERR_DENIED,
		              "does not accept our certificate");
		stop_server(&server, SIGKILL);
	}
}

TEST(redis_tls, a_key_may_stand_in_the_certificates_file)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf both = TKB_BUF_INIT(65536);
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	tkb_buf_add(&both, read_file("client.pem"));
	tkb_buf_add(&both, read_file("client.key"));
	write_file("both.pem", tkb_buf_bytes(&both));
	server = start_tls("server", "");
	check_works(
		tls_url(&server, "localhost", "?cafile=ca.pem&cert=both.pem"));
	stop_server(&server, SIGKILL);
}

TEST(redis_tls, files_that_cannot_be_used_are_named)
{
	struct server server;
	struct outcome outcome;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	make_certificate("client", "ca", "DNS:client", 2);
	server = start_open("server");
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
	              TKB_ERR_INVALID,
	              "cannot use the private key in 'server.key'");
	check_refused(tls_url(&server, "localhost",
	                      "?cafile=ca.pem&cert=client.pem&key=locked.key"),
	              TKB_ERR_INVALID,
	              "cannot use the private key in 'locked.key'");
	check_refused(
		tls_url(&server, "localhost", "?cafile=ca.pem&key=client.key"),
		TKB_ERR_INVALID, "a key without a certificate");
	stop_server(&server, SIGKILL);
}

static void answer_in_the_clear(int fd, void *self)
{
	char bytes[4096];

	(void)self;
	if (recv(fd, bytes, sizeof(bytes), 0) > 0)
		(void)send(fd, "-ERR what?\r\n", 12, 0);
}

TEST(redis_tls, a_server_without_tls_is_told_from_one_with_it)
{
	struct server fake = start_fake(answer_in_the_clear, NULL);
	struct server server;

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_open("server");
	check_refused(text("rediss://localhost:%u?cafile=ca.pem", fake.port),
	              TKB_ERR_UNAVAILABLE, "TLS failed: wrong version number");
	check_refused(text("redis://localhost:%u", server.tls_port),
	              TKB_ERR_UNAVAILABLE, "closed the connection");
	stop_server(&server, SIGKILL);
	stop_server(&fake, SIGKILL);
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

/* OpenSSL's own sockets would raise SIGPIPE, which ends this program. */
TEST(redis_tls, a_server_that_dies_in_the_middle_is_unavailable)
{
	const struct tkb_digest digest = made_up(1);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	struct tkb_error err = { 0 };
	struct server server;
	struct assassin assassin = { &server, 8 * TKB_MIB };
	const struct tkb_blob blob = { 64 * TKB_MIB,
		                       { kill_at_half, &assassin } };

	make_authority("ca");
	make_certificate("server", "ca", "DNS:localhost", 2);
	server = start_open("server");
	CHECK_OK(open_redis(tls_url(&server, "localhost", "?cafile=ca.pem"),
	                    &handle, &err),
	         &err);
	CHECK_INT(tkb_backend_redis.put(handle.self, &handle.call, &digest,
	                                &blob, &err),
	          TKB_ERR_UNAVAILABLE);
	CHECK_CONTAINS(err.message, "closed the connection");
	close_handle(&handle);
}
