/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ASK_H
#define TKBUNDLE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Run several child processes at once, and give up on those that do not answer
 * in time. A child runs a program, or a function of ours that may hang, such as
 * one that reads a dead mount or calls a driver.
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
 * A child's standard files are /dev/null, except the one for its answer. If a
 * child runs a function, call asks_begin() before there are threads.
 */
enum ask_end {
	ASK_NONE,   /* it could not be started */
	ASK_DONE,   /* it exited with 0, and its answer is complete */
	ASK_FAILED, /* it failed, or its answer does not fit */
	ASK_LATE    /* it did not answer in time, and was killed */
};

struct ask {
	const char *const *argv; /* a program, ends with NULL; NULL: run
				    `function` */
	/* Runs in a fork, and writes the answer to `fd`. False: it failed. */
	bool (*function)(void *self, int fd);
	void *self;
	char *out; /* receives the answer, and a zero */
	size_t size;
	enum ask_end end;
	/* private */
	size_t length;
	pid_t child;
	int fd;
};

void asks_begin(struct ask *asks, size_t count);

/*
 * Wait for all answers, at most `limit_ms` in all, and kill children that are
 * late.
 */
void asks_end(struct ask *asks, size_t count, uint64_t limit_ms);

#endif
