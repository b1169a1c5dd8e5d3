/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/limits.h"

#include <sys/random.h>

#include "cache/watch.h"

int tkb_op_limits_check(const struct tkb_op_limits *limits,
                        struct tkb_error *err)
{
	const int rc = tkb_watch_check(limits->watch, err);

	if (rc < 0 || tkb_now_ns() < limits->deadline_ns)
		return rc;
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "it was not done in time (%s)",
	                limits->deadline_name != NULL ? limits->deadline_name
	                                              : "timeout");
}

bool tkb_op_limits_has_stalled(const struct tkb_op_limits *limits,
                               uint64_t moved_ns)
{
	return tkb_now_ns() >= moved_ns + limits->stall_ms * TKB_NS_PER_MS;
}

int tkb_op_limits_fail_stalled(const struct tkb_op_limits *limits,
                               struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "no byte moved for %u ms (stall-timeout)",
	                (unsigned)limits->stall_ms);
}

int tkb_op_limits_wait_ms(const struct tkb_op_limits *limits, int most_ms)
{
	const uint64_t now = tkb_now_ns();
	uint64_t left_ms;

	if (now >= limits->deadline_ns)
		return 0;
	left_ms = (limits->deadline_ns - now) / TKB_NS_PER_MS + 1;
	return left_ms < (uint64_t)most_ms ? (int)left_ms : most_ms;
}

uint64_t tkb_random_pause_ns(uint64_t limit_ms)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)tkb_now_ns();
	return random % (limit_ms * 1000) * 1000;
}
