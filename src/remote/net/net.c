/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/buf.h"
#include "base/fd.h"
#include "remote/net/resolve.h"

#define NS_PER_MS ((uint64_t)1000000)

struct tkb_op_limits tkb_net_connect_call(const struct tkb_op_limits *call)
{
	const uint64_t end_ns = tkb_now_ns() + call->connect_ms * NS_PER_MS;
	struct tkb_op_limits shorter = *call;

	if (end_ns < shorter.deadline_ns) {
		shorter.deadline_ns = end_ns;
		shorter.deadline_name = "connect-timeout";
	}
	return shorter;
}

static int connect_to(struct tkb_wire *wire, const struct sockaddr *address,
                      socklen_t size, const struct tkb_op_limits *call,
                      struct tkb_error *err)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	TKB_AUTO(tkb_wire_close)
	struct tkb_wire made = { .fd = socket(address->sa_family, type, 0),
		                 .moved_ns = tkb_now_ns() };
	socklen_t number_size = sizeof(errno);
	int number = 0;
	int rc;

	if (made.fd < 0)
		return tkb_wire_fail(err, "cannot make a socket");
	if (connect(made.fd, address, size) < 0 && errno != EINPROGRESS &&
	    errno != EINTR)
		return tkb_wire_fail(err, "cannot connect");
	rc = tkb_wire_wait(&made, POLLOUT, call, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "cannot connect");
	if (getsockopt(made.fd, SOL_SOCKET, SO_ERROR, &number, &number_size) ==
	            0 &&
	    number != 0) {
		errno = number;
		return tkb_wire_fail(err, "cannot connect");
	}
	*wire = made;
	made.fd = -1;
	return 0;
}

static int connect_unix(struct tkb_wire *wire, const char *path,
                        const struct tkb_op_limits *call, struct tkb_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const size_t size = strlen(path) + 1;

	if (size > sizeof(address.sun_path))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the socket's path is longer than %zu bytes",
		                sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, size);
	return connect_to(wire, (const struct sockaddr *)&address,
	                  sizeof(address), call, err);
}

/* Its share of the time that is left, for one of `count` addresses. */
static struct tkb_op_limits share_of(const struct tkb_op_limits *call,
                                     size_t count)
{
	const uint64_t now = tkb_now_ns();
	struct tkb_op_limits share = *call;

	if (share.deadline_ns > now)
		share.deadline_ns = now + (share.deadline_ns - now) / count;
	return share;
}

static int connect_tcp(struct tkb_wire *wire, const char *host, uint32_t port,
                       const struct tkb_op_limits *call, struct tkb_error *err)
{
	TKB_AUTO(tkb_resolve_release) struct addrinfo *found = NULL;
	const int yes = 1;
	size_t count = 0;
	int rc;

	rc = tkb_resolve(host, port, call, &found, err);
	for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
		count++;
	for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
		const struct tkb_op_limits share = share_of(call, count--);

		rc = connect_to(wire, at->ai_addr, at->ai_addrlen, &share, err);
		if (rc == 0 || rc == TKB_ERR_CANCELLED)
			break;
	}
	if (rc == 0)
		(void)setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &yes,
		                 sizeof(yes));
	return rc;
}

static int shake_hands(struct tkb_net *net, const struct tkb_op_limits *call,
                       struct tkb_error *err)
{
	bool is_done = false;

	for (;;) {
		short wanted = 0;
		int rc;

		rc = tkb_tls_handshake(net->tls, &is_done, &wanted, err);
		if (rc < 0 || is_done)
			return rc;
		rc = tkb_wire_wait(&net->wire, wanted, call, err);
		if (rc < 0)
			return tkb_fail_while(err, rc, "TLS handshake");
	}
}

int tkb_net_open(struct tkb_net *net, const struct tkb_peer *peer,
                 const struct tkb_op_limits *call, struct tkb_error *err)
{
	int rc;

	if (peer->path != NULL)
		rc = connect_unix(&net->wire, peer->path, call, err);
	else
		rc = connect_tcp(&net->wire, peer->host, peer->port, call, err);
	if (rc < 0 || peer->tls == NULL)
		return rc;
	rc = tkb_tls_new(peer->tls, peer->host, &net->wire, &net->tls, err);
	return rc < 0 ? rc : shake_hands(net, call, err);
}

void tkb_net_close(struct tkb_net *net)
{
	tkb_tls_free(tkb_take(net->tls));
	tkb_wire_close(&net->wire);
}

static int write_some(struct tkb_net *net, struct tkb_bytes bytes,
                      size_t *moved_out, short *wanted_out,
                      struct tkb_error *err)
{
	ssize_t sent;

	if (net->tls != NULL)
		return tkb_tls_write(net->tls, bytes.data, bytes.size,
		                     moved_out, wanted_out, err);
	sent = tkb_wire_send(&net->wire, bytes.data, bytes.size);
	if (sent < 0 && !tkb_wire_would_block())
		return tkb_wire_fail(err, "the connection broke");
	*moved_out = sent < 0 ? 0 : (size_t)sent;
	*wanted_out = POLLOUT;
	return 0;
}

static int read_some(struct tkb_net *net, void *data, size_t size,
                     size_t *moved_out, short *wanted_out,
                     struct tkb_error *err)
{
	ssize_t got;

	if (net->tls != NULL)
		return tkb_tls_read(net->tls, data, size, moved_out, wanted_out,
		                    err);
	got = tkb_wire_recv(&net->wire, data, size);
	if (got == 0 || (got < 0 && errno == ECONNRESET))
		return tkb_wire_fail_ended(err);
	if (got < 0 && !tkb_wire_would_block())
		return tkb_wire_fail(err, "the connection broke");
	*moved_out = got < 0 ? 0 : (size_t)got;
	*wanted_out = POLLIN;
	return 0;
}

int tkb_net_write(struct tkb_net *net, const struct tkb_op_limits *call,
                  struct tkb_bytes bytes, struct tkb_error *err)
{
	size_t done = 0;
	int rc = 0;

	net->wire.moved_ns = tkb_now_ns();
	while (done < bytes.size && rc == 0) {
		size_t moved = 0;
		short wanted = 0;

		rc = tkb_wire_check(&net->wire, call, err);
		if (rc == 0)
			rc = write_some(
				net, tkb_bytes_slice(bytes, done, bytes.size),
				&moved, &wanted, err);
		if (rc == 0 && moved == 0)
			rc = tkb_wire_wait(&net->wire, wanted, call, err);
		done += moved;
	}
	return rc;
}

int tkb_net_read(struct tkb_net *net, const struct tkb_op_limits *call,
                 void *data, size_t size, size_t *got_out,
                 struct tkb_error *err)
{
	net->wire.moved_ns = tkb_now_ns();
	for (;;) {
		size_t moved = 0;
		short wanted = 0;
		int rc;

		rc = tkb_wire_check(&net->wire, call, err);
		if (rc == 0)
			rc = read_some(net, data, size, &moved, &wanted, err);
		if (rc == 0 && moved == 0)
			rc = tkb_wire_wait(&net->wire, wanted, call, err);
		if (rc < 0)
			return rc;
		if (moved != 0) {
			*got_out = moved;
			return 0;
		}
	}
}
