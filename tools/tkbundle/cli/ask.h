/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ASK_H
#define TKBUNDLE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Ask several children at once, none of which may keep us: programs, or functions of
 * ours that may hang, as those that look at a dead mount or talk to a driver.
 *
 *     struct ask asks[] = {
 *             { .argv = python, .out = text, .size = sizeof(text) },
 *             { .function = look, .self = &where, .out = more, .size = ... },
 *     };
 *
 *     asks_begin(asks, 2);
 *     ... other work ...
 *     asks_end(asks, 2, 2000);
 *     if (asks[0].end == ASK_DONE)
 *             puts(text);
 *
 * A child has no standard input, and complains to nobody. Begin before there are
 * threads, if any of them is a function.
 */
enum ask_end {
	ASK_NONE,   /* it could not be started */
	ASK_DONE,   /* it exited with 0, and all that it said is there */
	ASK_FAILED, /* it failed, or said more than fits */
	ASK_LATE    /* it did not answer in time, and was killed */
};

struct ask {
	const char *const *argv; /* a program; ends with NULL; or NULL, and */
	/* What a child of ours does: write its answer to `fd`. */
	bool (*function)(void *self, int fd);
	void *self;
	char *out; /* receives the answer, and a zero */
	size_t size;
	enum ask_end end;
	/* Its own. */
	size_t length;
	pid_t child;
	int fd;
};

void asks_begin(struct ask *asks, size_t count);

/* Wait for all answers, so long in all; then nothing of them is left. */
void asks_end(struct ask *asks, size_t count, uint64_t limit_ms);

#endif
