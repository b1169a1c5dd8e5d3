/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include "remote/net/connection.h"

static struct tkb_bytes rest;
static size_t piece_size;

void fuzz_peer_say(struct tkb_bytes stream, size_t piece)
{
	rest = stream;
	piece_size = piece;
}

int __wrap_tkb_connection_open(const struct tkb_peer *peer,
                               const struct tkb_op_limits *limits,
                               struct tkb_connection **out,
                               struct tkb_error *err);
void __wrap_tkb_connection_close(struct tkb_connection *connection);
bool __wrap_tkb_connection_is_hung_up(const struct tkb_connection *connection);
int __wrap_tkb_connection_write(struct tkb_connection *connection,
                                const struct tkb_op_limits *call,
                                struct tkb_bytes bytes, struct tkb_error *err);
int __wrap_tkb_connection_read(struct tkb_connection *connection,
                               const struct tkb_op_limits *call, void *data,
                               size_t size, size_t *got_out,
                               struct tkb_error *err);

int __wrap_tkb_connection_open(const struct tkb_peer *peer,
                               const struct tkb_op_limits *limits,
                               struct tkb_connection **out,
                               struct tkb_error *err)
{
	(void)peer, (void)limits, (void)err;
	*out = NULL;
	return 0;
}

void __wrap_tkb_connection_close(struct tkb_connection *connection)
{
	(void)connection;
}

bool __wrap_tkb_connection_is_hung_up(const struct tkb_connection *connection)
{
	(void)connection;
	return false;
}

int __wrap_tkb_connection_write(struct tkb_connection *connection,
                                const struct tkb_op_limits *call,
                                struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)connection, (void)call, (void)bytes, (void)err;
	return 0;
}

int __wrap_tkb_connection_read(struct tkb_connection *connection,
                               const struct tkb_op_limits *call, void *data,
                               size_t size, size_t *got_out,
                               struct tkb_error *err)
{
	(void)connection, (void)call;
	if (rest.size == 0)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE, "it hung up");
	if (size > piece_size)
		size = piece_size;
	if (size > rest.size)
		size = rest.size;
	memcpy(data, rest.data, size);
	rest = tkb_bytes_slice(rest, size, rest.size);
	*got_out = size;
	return 0;
}
