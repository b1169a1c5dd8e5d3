/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_TLS_FIXTURE_H
#define TKB_TESTS_TLS_FIXTURE_H

/*
 * The servers that speak TLS, redis-server and nginx, and checks to run with
 * each.
 *
 *     make_authority("ca");
 *     make_certificate("server", "ca", "DNS:localhost", 2);
 *     check_each("server", NO_CERTIFICATE, check_it);
 */

#include "remote_fixture.h"
#include "server.h"

enum {
	TLS_KINDS = 2
};

/*
 * Whether a server requires certificates of its clients, and which version of
 * TLS it speaks.
 */
enum client_wish {
	NO_CERTIFICATE,
	CERTIFICATE_1_2,
	CERTIFICATE_1_3
};

struct tls_kind {
	const char *scheme;
	const char *clear_scheme;
	/* With certificate `name`. */
	struct server (*start)(const char *name, enum client_wish wish);
	const char *refusal; /* of a client without a certificate */
	int clear_status;    /* of a client without TLS */
	const char *clear_refusal;
};

extern const struct tls_kind tls_kinds[TLS_KINDS];

/* A server, and how it is named. */
struct tls_target {
	const struct tls_kind *kind;
	struct server server;
};

/* nginx that takes PUT, as the second kind starts it. */
struct server start_tls_nginx(const char *name, enum client_wish wish);

const char *tls_url(const struct tls_target *target, const char *host,
                    const char *rest);

/* The connection is refused at open, or at the first operation. */
void check_url_works(const char *url);
void check_url_refused(const char *url, int status, const char *part);

void check_works(const struct tls_target *target, const char *host,
                 const char *rest);
void check_denied(const struct tls_target *target, const char *host,
                  const char *rest, const char *part);
void check_invalid(const struct tls_target *target, const char *rest,
                   const char *part);

/* Runs a check against a server of each kind with certificate `name`. */
void check_each(const char *name, enum client_wish wish,
                void (*check)(const struct tls_target *target));

#endif
