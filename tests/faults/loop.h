/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULTS_LOOP_H
#define TKB_TESTS_FAULTS_LOOP_H

/*
 * A call, made again and again: once with each allocation failing in it.
 *
 *     static int open_it(void *self, struct tkb_error *err) { ... }
 *     static const char *check(void *self, enum fault_moment moment) { ... }
 *
 *     const struct fault_call call = { .call = open_it, .check = check };
 *
 *     fault_each_allocation(&call);
 *
 * It is made three times for each: one allocation fails; the same, and err is
 * NULL; that one and all behind it fail. Each time it must return
 * TKB_ERR_NOMEM and a sentence, or what it should where it could do without;
 * keep no memory, no descriptor, no thread and no error in OpenSSL's queue; and
 * do its whole work when it is made again with nothing failing.
 *
 * The calls are made in a child of the test, so that one that ends its process
 * is a failure like others.
 */

#include <tkbundle/error.h>

/* When a check is made. */
enum fault_moment {
	FAULT_REFUSED,  /* the call has failed: nothing is torn, or left over */
	FAULT_STARVED,  /* it has, and could not clean up for want of memory */
	FAULT_DONE_YET, /* it did its work all the same */
	FAULT_DONE      /* nothing failed: all is there, nothing is left over */
};

struct fault_call {
	void *self; /* given to each function */

	/* Make all as it is before the call; may be NULL. */
	void (*prepare)(void *self);

	/* The call, and nothing that allocates besides. */
	int (*call)(void *self, struct tkb_error *err);
	int wanted; /* what it returns where nothing fails */

	/* What is wrong now? NULL: nothing is. */
	const char *(*check)(void *self, enum fault_moment moment);

	/* Release what a call gave that did its work; may be NULL. */
	void (*release)(void *self);
};

/* A sentence for a check to return; it holds for three more. */
const char *wrong(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Does not return if anything is wrong: cmocka is told. */
void fault_each_allocation(const struct fault_call *call);

/* Skips the test where no allocation can be made to fail. */
void need_faults(void);

#endif
