/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_NET_H
#define TKB_REMOTE_NET_NET_H

/*
 * A connection to a server: TCP or a unix socket, in the clear or under TLS.
 *
 *     TKB_AUTO(tkb_net_close) struct tkb_net net = TKB_NET_INIT;
 *
 *     rc = tkb_net_open(&net, &peer, call, err);
 *     rc = tkb_net_write(&net, call, bytes, err);
 *     rc = tkb_net_read(&net, call, data, size, &got, err);
 *
 * Nothing here takes longer than `call` allows. Failures: TKB_ERR_UNAVAILABLE
 * (a peer that closes, too), TKB_ERR_DENIED (a certificate, or rights on a
 * socket's file), TKB_ERR_INVALID (a file with certificates, a name that is
 * none), TKB_ERR_CANCELLED, TKB_ERR_NOMEM. After one it can only be closed.
 */

#include "remote/net/tls.h"
#include "remote/net/wire.h"

/* Whom to connect to. */
struct tkb_peer {
	const char *path; /* of a unix socket; NULL: host and port */
	const char *host; /* a name or an address */
	uint32_t port;
	const struct tkb_tls_options *tls; /* NULL: in the clear */
};

/* Must not move while it is open. */
struct tkb_net {
	struct tkb_wire wire;
	struct tkb_tls *tls; /* owned; NULL: in the clear */
};

#define TKB_NET_INIT                                                           \
	{                                                                      \
		.wire = TKB_WIRE_INIT                                          \
	}

/* The call within which a connection, greeting included, must be made. */
struct tkb_op_limits tkb_net_connect_call(const struct tkb_op_limits *call);

/* Each address of a host gets its share of the time. */
TKB_NODISCARD int tkb_net_open(struct tkb_net *net, const struct tkb_peer *peer,
                               const struct tkb_op_limits *call,
                               struct tkb_error *err);
void tkb_net_close(struct tkb_net *net);

/* Send all of `bytes`. */
TKB_NODISCARD int tkb_net_write(struct tkb_net *net,
                                const struct tkb_op_limits *call,
                                struct tkb_bytes bytes, struct tkb_error *err);

/* Take what comes: at least one byte, at most `size`. */
TKB_NODISCARD int tkb_net_read(struct tkb_net *net,
                               const struct tkb_op_limits *call, void *data,
                               size_t size, size_t *got_out,
                               struct tkb_error *err);

#endif
