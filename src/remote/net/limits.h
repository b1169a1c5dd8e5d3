/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_LIMITS_H
#define TKB_REMOTE_NET_LIMITS_H

/* Checking the limits of an operation. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/clock.h"

/*
 * May the operation go on? Returns 0, TKB_ERR_UNAVAILABLE after its deadline,
 * or TKB_ERR_CANCELLED.
 */
TKB_NODISCARD int tkb_op_limits_check(const struct tkb_op_limits *limits,
                                      struct tkb_error *err);

/*
 * Has the time since `moved_ns`, when a byte moved last, reached the stall
 * timeout?
 */
bool tkb_op_limits_has_stalled(const struct tkb_op_limits *limits,
                               uint64_t moved_ns);

/* Fail with TKB_ERR_UNAVAILABLE: no byte moved. */
int tkb_op_limits_fail_stalled(const struct tkb_op_limits *limits,
                               struct tkb_error *err);

/* How long to wait before the limits are checked again: at most `most_ms`. */
int tkb_op_limits_wait_ms(const struct tkb_op_limits *limits, int most_ms);

/*
 * A random time below `limit_ms`, so that clients that failed together do not
 * all retry at once.
 */
uint64_t tkb_random_pause_ns(uint64_t limit_ms);

#endif
