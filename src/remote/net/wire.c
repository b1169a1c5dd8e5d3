/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/wire.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "base/fd.h"

#define NS_PER_MS ((uint64_t)1000000)
#define ASK_NS (100 * NS_PER_MS)

void tkb_wire_close(struct tkb_wire *wire)
{
	tkb_fd_close_at(&wire->fd);
}

bool tkb_wire_would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

ssize_t tkb_wire_send(struct tkb_wire *wire, const void *data, size_t size)
{
	ssize_t sent;

	if (wire->is_hung_up)
		return (ssize_t)size;
	sent = send(wire->fd, data, size, MSG_NOSIGNAL);
	if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
		wire->is_hung_up = true;
		return (ssize_t)size;
	}
	if (sent > 0)
		wire->moved_ns = tkb_now_ns();
	return sent;
}

ssize_t tkb_wire_recv(struct tkb_wire *wire, void *data, size_t size)
{
	const ssize_t got = recv(wire->fd, data, size, 0);

	if (got > 0)
		wire->moved_ns = tkb_now_ns();
	if (got == 0)
		wire->is_ended = true;
	return got;
}

static bool is_cancelled(const struct tkb_op_limits *call)
{
	return call->watch != NULL && call->watch->is_cancelled != NULL &&
	       call->watch->is_cancelled(call->watch->self);
}

int tkb_wire_check(struct tkb_wire *wire, const struct tkb_op_limits *call,
                   struct tkb_error *err)
{
	const uint64_t now = tkb_now_ns();

	if (now - wire->asked_ns >= ASK_NS) {
		wire->asked_ns = now;
		if (is_cancelled(call))
			return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	}
	if (now >= call->deadline_ns)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "it was not done in time (%s)",
		                call->deadline_name != NULL
		                        ? call->deadline_name
		                        : "timeout");
	return 0;
}

/* How long to poll: until the next bound, or the next question. */
static int nap_ms(uint64_t now, uint64_t stall_ns, uint64_t deadline_ns)
{
	const uint64_t left_ns = deadline_ns > now ? deadline_ns - now : 0;
	uint64_t nap_ns = ASK_NS;

	if (nap_ns > stall_ns - now)
		nap_ns = stall_ns - now;
	if (nap_ns > left_ns)
		nap_ns = left_ns;
	return (int)((nap_ns + NS_PER_MS - 1) / NS_PER_MS);
}

int tkb_wire_wait(struct tkb_wire *wire, short events,
                  const struct tkb_op_limits *call, struct tkb_error *err)
{
	const uint64_t stall_ns = wire->moved_ns + call->stall_ms * NS_PER_MS;
	struct pollfd item = { .fd = wire->fd, .events = events };

	for (;;) {
		uint64_t now;
		int rc;

		rc = tkb_wire_check(wire, call, err);
		if (rc < 0)
			return rc;
		now = tkb_now_ns();
		if (now >= stall_ns)
			return tkb_fail(
				err, TKB_ERR_UNAVAILABLE,
				"no byte moved for %u ms (stall-timeout)",
				(unsigned)call->stall_ms);
		rc = poll(&item, 1, nap_ms(now, stall_ns, call->deadline_ns));
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return tkb_wire_fail(err, "cannot wait for it");
	}
}

int tkb_wire_fail(struct tkb_error *err, const char *what)
{
	const int number = errno;
	int status = tkb_fail_errno(err, "%s", what);

	if (status != TKB_ERR_NOMEM)
		status = number == EACCES || number == EPERM
		                 ? TKB_ERR_DENIED
		                 : TKB_ERR_UNAVAILABLE;
	if (err != NULL)
		err->status = status;
	return status;
}

int tkb_wire_fail_ended(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "it closed the connection");
}
