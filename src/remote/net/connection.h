/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_CONNECTION_H
#define TKB_REMOTE_NET_CONNECTION_H

/*
 * A connection to a server: TCP or a unix socket, in the clear or under TLS,
 * made by libcurl.
 *
 *     struct tkb_connection *connection;
 *
 *     rc = tkb_connection_open(&peer, limits, &connection, err);
 *     rc = tkb_connection_write(connection, limits, bytes, err);
 *     rc = tkb_connection_read(connection, limits, data, size, &got, err);
 *     tkb_connection_close(connection);
 *
 * Nothing here takes longer than `limits` allow, and no signal is raised.
 * Failures: TKB_ERR_UNAVAILABLE (a peer that closes, too), TKB_ERR_DENIED (a
 * certificate, or rights on a socket's file), TKB_ERR_INVALID (a file with
 * certificates, a name that is none), TKB_ERR_CANCELLED, TKB_ERR_NOMEM. After
 * one the connection can only be closed.
 */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

struct tkb_connection;

/* Whom to connect to. Borrowed until close. */
struct tkb_peer {
	const struct tkb_remote_url *url; /* its host, or the path of a socket;
	                                     its parameters for TLS */
	uint32_t port;                    /* 0: the path is a unix socket's */
	bool has_tls;
};

/* The limits for making a connection, greeting included. */
struct tkb_op_limits tkb_connection_open_limits(
	const struct tkb_op_limits *limits);

TKB_NODISCARD int tkb_connection_open(const struct tkb_peer *peer,
                                      const struct tkb_op_limits *limits,
                                      struct tkb_connection **out,
                                      struct tkb_error *err);

/* NULL is allowed. */
void tkb_connection_close(struct tkb_connection *connection);

/*
 * Send all of `bytes`. If the peer has hung up, they are dropped without a
 * failure: the next read gets the peer's last message, which may say why, or
 * the end.
 */
TKB_NODISCARD int tkb_connection_write(struct tkb_connection *connection,
                                       const struct tkb_op_limits *limits,
                                       struct tkb_bytes bytes,
                                       struct tkb_error *err);

/* Does the peer take nothing more? */
bool tkb_connection_is_hung_up(const struct tkb_connection *connection);

/* Take what comes: at least one byte, at most `size`. */
TKB_NODISCARD int tkb_connection_read(struct tkb_connection *connection,
                                      const struct tkb_op_limits *limits,
                                      void *data, size_t size, size_t *got_out,
                                      struct tkb_error *err);

#endif
