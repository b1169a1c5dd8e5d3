/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_TLS_H
#define TKB_REMOTE_NET_TLS_H

/*
 * TLS over a wire, as a client, by OpenSSL. Nothing here waits: a step that
 * moves nothing says in `wanted_out` what to wait for (POLLIN, POLLOUT), and is
 * done again then.
 *
 * TKB_ERR_DENIED is a certificate that one side does not accept;
 * TKB_ERR_INVALID a file of the caller's that cannot be used.
 */

#include "remote/net/wire.h"

/* NULL is the default in each. */
struct tkb_tls_options {
	const char *ca_file;     /* PEM; the system's CAs */
	const char *cert_file;   /* PEM, a chain; none */
	const char *key_file;    /* PEM, not encrypted; as cert_file */
	const char *server_name; /* who it must be; the host */
	bool accepts_anybody;    /* nothing is checked */
};

struct tkb_tls;

/* `wire` must live as long. */
TKB_NODISCARD int tkb_tls_new(const struct tkb_tls_options *options,
                              const char *host, struct tkb_wire *wire,
                              struct tkb_tls **out, struct tkb_error *err);

/* Tells the peer that nothing more comes, if it would take that at once. */
void tkb_tls_free(struct tkb_tls *tls);

TKB_NODISCARD int tkb_tls_handshake(struct tkb_tls *tls, bool *done_out,
                                    short *wanted_out, struct tkb_error *err);

/* `moved_out` is not 0, or `wanted_out` says what to wait for. */
TKB_NODISCARD int tkb_tls_read(struct tkb_tls *tls, void *data, size_t size,
                               size_t *moved_out, short *wanted_out,
                               struct tkb_error *err);
TKB_NODISCARD int tkb_tls_write(struct tkb_tls *tls, const void *data,
                                size_t size, size_t *moved_out,
                                short *wanted_out, struct tkb_error *err);

#endif
