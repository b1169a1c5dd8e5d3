/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include "remote/net/net.h"

static struct tkb_bytes rest;
static size_t piece_size;

void fuzz_peer_say(struct tkb_bytes stream, size_t piece)
{
	rest = stream;
	piece_size = piece;
}

int __wrap_tkb_net_open(const struct tkb_peer *peer,
                        const struct tkb_op_limits *limits,
                        struct tkb_net **out, struct tkb_error *err);
void __wrap_tkb_net_close(struct tkb_net *net);
bool __wrap_tkb_net_is_hung_up(const struct tkb_net *net);
int __wrap_tkb_net_write(struct tkb_net *net, const struct tkb_op_limits *call,
                         struct tkb_bytes bytes, struct tkb_error *err);
int __wrap_tkb_net_read(struct tkb_net *net, const struct tkb_op_limits *call,
                        void *data, size_t size, size_t *got_out,
                        struct tkb_error *err);

int __wrap_tkb_net_open(const struct tkb_peer *peer,
                        const struct tkb_op_limits *limits,
                        struct tkb_net **out, struct tkb_error *err)
{
	(void)peer, (void)limits, (void)err;
	*out = NULL;
	return 0;
}

void __wrap_tkb_net_close(struct tkb_net *net)
{
	(void)net;
}

bool __wrap_tkb_net_is_hung_up(const struct tkb_net *net)
{
	(void)net;
	return false;
}

int __wrap_tkb_net_write(struct tkb_net *net, const struct tkb_op_limits *call,
                         struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)net, (void)call, (void)bytes, (void)err;
	return 0;
}

int __wrap_tkb_net_read(struct tkb_net *net, const struct tkb_op_limits *call,
                        void *data, size_t size, size_t *got_out,
                        struct tkb_error *err)
{
	(void)net, (void)call;
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
