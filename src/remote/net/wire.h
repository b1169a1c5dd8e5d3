/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_WIRE_H
#define TKB_REMOTE_NET_WIRE_H

/*
 * A socket that never blocks, and waiting for it within the bounds of a call:
 * its deadline, its stall time, and whether it is cancelled, which is asked
 * every 100 ms.
 *
 * A peer that hangs up may have said why before: what is sent to it from then
 * on is dropped without a word, and the next read finds its last words or the
 * end. No signal is ever raised.
 */

#include <sys/types.h>

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/clock.h"

struct tkb_wire {
	int fd;            /* owned; -1: none */
	bool is_hung_up;   /* the peer takes nothing more */
	bool is_ended;     /* the peer has sent its last byte */
	uint64_t moved_ns; /* when a byte moved last */
	uint64_t asked_ns; /* when it was asked last whether it is cancelled */
};

#define TKB_WIRE_INIT                                                          \
	{                                                                      \
		.fd = -1                                                       \
	}

void tkb_wire_close(struct tkb_wire *wire);

/* As send() and recv(); -1 and errno. Waiting helps where it would block. */
ssize_t tkb_wire_send(struct tkb_wire *wire, const void *data, size_t size);
ssize_t tkb_wire_recv(struct tkb_wire *wire, void *data, size_t size);
bool tkb_wire_would_block(void);

/* May the call go on? TKB_ERR_UNAVAILABLE (its deadline) or _CANCELLED. */
TKB_NODISCARD int tkb_wire_check(struct tkb_wire *wire,
                                 const struct tkb_op_limits *call,
                                 struct tkb_error *err);

/*
 * Wait until `events` (POLLIN, POLLOUT) may be. Returns 0, TKB_ERR_UNAVAILABLE
 * or TKB_ERR_CANCELLED.
 */
TKB_NODISCARD int tkb_wire_wait(struct tkb_wire *wire, short events,
                                const struct tkb_op_limits *call,
                                struct tkb_error *err);

/*
 * TKB_ERR_UNAVAILABLE, or TKB_ERR_DENIED where rights are missing; "<what>: "
 * and what errno says.
 */
int tkb_wire_fail(struct tkb_error *err, const char *what);

/* The peer is gone. */
int tkb_wire_fail_ended(struct tkb_error *err);

#endif
