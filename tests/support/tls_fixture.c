/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_fixture.h"

#include <signal.h>

#include "nginx.h"

/* "TLSv1.3" */
static const char *version_of(enum client_wish wish)
{
	return wish == CERTIFICATE_1_2 ? "TLSv1.2" : "TLSv1.3";
}

static struct server start_rediss(const char *name, enum client_wish wish)
{
	const char *more = wish == NO_CERTIFICATE ? "tls-auth-clients no\n"
	                                          : text("tls-protocols %s\n",
	                                                 version_of(wish));

	return start_redis(text("tls-cert-file %s/%s.pem\n"
	                        "tls-key-file %s/%s.key\n"
	                        "tls-ca-cert-file %s/ca.pem\n%s",
	                        test_folder(), name, test_folder(), name,
	                        test_folder(), more));
}

struct server start_tls_nginx(const char *name, enum client_wish wish)
{
	const char *more =
		wish == NO_CERTIFICATE
			? ""
			: text("ssl_protocols %s;\nssl_verify_client on;\n"
	                       "ssl_client_certificate %s/ca.pem;\n",
	                       version_of(wish), test_folder());

	return start_nginx(text("%s%s%s", nginx_tls(name), more, nginx_dav()));
}

const struct tls_kind tls_kinds[TLS_KINDS] = {
	{ "rediss", "redis", start_rediss, "does not accept our certificate",
	  TKB_ERR_UNAVAILABLE, "closed the connection" },
	/* nginx says so in HTTP. */
	{ "https", "http", start_tls_nginx, "HTTP 400", TKB_ERR_DENIED,
	  "HTTP 400" },
};

const char *tls_url(const struct tls_target *target, const char *host,
                    const char *rest)
{
	return text("%s://%s:%u%s", target->kind->scheme, host,
	            target->server.tls_port, rest);
}

void check_url_works(const char *url)
{
	const struct tkb_bytes bytes = make_bytes(3 * TKB_MIB + 7, 1);
	struct handle *handle = must_connect(url);

	struct tkb_digest digest = must_put(handle, bytes);
	check_blob(handle, &digest, 0, bytes);
	check_blob(handle, &digest, TKB_MIB,
	           tkb_bytes_slice(bytes, TKB_MIB, bytes.size));
	(void)must_add(handle, "ref", bytes);
	CHECK_INT(list_records(handle, "ref")->count, 1);
}

void check_url_refused(const char *url, int status, const char *part)
{
	const struct tkb_digest digest = made_up(1);
	struct notebook *notebook = new_notebook();
	const struct tkb_record_visitor visitor = record_visitor(notebook);
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	bool answer = false;
	int rc = open_handle(url, &handle, ERR);

	if (rc < 0) {
		CHECK_FAILS(rc, status, ERR, part);
		return;
	}
	FAILS(ASK(&handle, has, &digest, 1, &answer, NULL, ERR), status, part);
	*ERR = (struct tkb_error){ 0 };
	FAILS(ASK(&handle, records, "ref", &visitor, ERR), status, part);
}

void check_works(const struct tls_target *target, const char *host,
                 const char *rest)
{
	check_url_works(tls_url(target, host, rest));
}

void check_denied(const struct tls_target *target, const char *host,
                  const char *rest, const char *part)
{
	check_url_refused(tls_url(target, host, rest), TKB_ERR_DENIED, part);
}

void check_invalid(const struct tls_target *target, const char *rest,
                   const char *part)
{
	check_url_refused(tls_url(target, "localhost", rest), TKB_ERR_INVALID,
	                  part);
}

void check_each(const char *name, enum client_wish wish,
                void (*check)(const struct tls_target *target))
{
	for (size_t i = 0; i < TLS_KINDS; i++) {
		struct tls_target target = { &tls_kinds[i],
			                     tls_kinds[i].start(name, wish) };

		check(&target);
		stop_server(&target.server, SIGKILL);
	}
}
