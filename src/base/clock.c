/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * (int64_t)TKB_NS_PER_S + now.tv_nsec;
}

uint64_t tkb_now_ns(void)
{
	return (uint64_t)read_clock(CLOCK_MONOTONIC);
}

int64_t tkb_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}
