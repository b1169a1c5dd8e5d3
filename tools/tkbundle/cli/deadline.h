/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DEADLINE_H
#define TKBUNDLE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The time when a verb gives up. A zeroed deadline never passes.
 *
 * Any thread may check it.
 */
struct deadline {
	uint64_t time_ms; /* time allowed; 0: no limit */
	uint64_t end_ms;  /* of CLOCK_MONOTONIC */
};

/* Start the time; 0 means no deadline. */
void deadline_begin(struct deadline *deadline, uint64_t time_ms);

bool deadline_is_over(const struct deadline *deadline);

/* The time until the deadline, in milliseconds, at most `most_ms`. */
uint32_t deadline_left_ms(const struct deadline *deadline, uint32_t most_ms);

/* For a struct tkb_watch: has the deadline passed, or a signal come? */
bool deadline_is_cancelled(void *self);

/* Milliseconds of CLOCK_MONOTONIC. */
uint64_t deadline_now_ms(void);

#endif
