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
 * Failures: TKB_ERR_UNAVAILABLE (also if the peer closes), TKB_ERR_DENIED (a
 * certificate is refused, or a socket's file may not be used), TKB_ERR_INVALID
 * (a bad certificate file or server name), TKB_ERR_CANCELLED, TKB_ERR_NOMEM.
 * After a failure, the connection can only be closed.
 */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

struct tkb_connection;

/* The server to connect to. Borrowed until close. */
struct tkb_peer {
	const struct tkb_remote_url *url; /* has the host, or a socket's
	                                     path, and the TLS parameters */
	uint32_t port;                    /* 0: connect to a unix socket */
	bool has_tls;
};

/* The limits for connecting, including the protocol's greeting. */
struct tkb_op_limits tkb_connection_open_limits(
	const struct tkb_op_limits *limits);

TKB_NODISCARD int tkb_connection_open(const struct tkb_peer *peer,
                                      const struct tkb_op_limits *limits,
                                      struct tkb_connection **out,
                                      struct tkb_error *err);

/* NULL is allowed. */
void tkb_connection_close(struct tkb_connection *connection);

/*
 * Send all of `bytes`. If the peer has hung up, drop them without a failure:
 * the next read then returns the peer's last message, which may be the reason,
 * or the end of the connection.
 */
TKB_NODISCARD int tkb_connection_write(struct tkb_connection *connection,
                                       const struct tkb_op_limits *limits,
                                       struct tkb_bytes bytes,
                                       struct tkb_error *err);

/* Has the peer closed its side, so that sent bytes are lost? */
bool tkb_connection_is_hung_up(const struct tkb_connection *connection);

/* Receive at least one byte and at most `size`. */
TKB_NODISCARD int tkb_connection_read(struct tkb_connection *connection,
                                      const struct tkb_op_limits *limits,
                                      void *data, size_t size, size_t *got_out,
                                      struct tkb_error *err);

#endif
