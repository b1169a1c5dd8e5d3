/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/deadline.h"

#include <time.h>

#include "cli/signals.h"

uint64_t deadline_now_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void deadline_begin(struct deadline *deadline, uint64_t time_ms)
{
	deadline->time_ms = time_ms;
	deadline->end_ms = deadline_now_ms() + time_ms;
}

bool deadline_is_over(const struct deadline *deadline)
{
	return deadline->time_ms != 0 && deadline_now_ms() >= deadline->end_ms;
}

uint32_t deadline_left_ms(const struct deadline *deadline, uint32_t most_ms)
{
	const uint64_t now_ms = deadline_now_ms();

	if (deadline->time_ms == 0)
		return most_ms;
	if (now_ms >= deadline->end_ms)
		return 0;
	return deadline->end_ms - now_ms < most_ms
	               ? (uint32_t)(deadline->end_ms - now_ms)
	               : most_ms;
}

bool deadline_is_cancelled(void *self)
{
	const struct deadline *const deadline = self;

	return signals_is_caught() || deadline_is_over(deadline);
}
