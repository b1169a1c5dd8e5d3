/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULTS_LOOP_H
#define TKB_TESTS_FAULTS_LOOP_H

/*
 * A call, made again and again: once with each allocation failing in it.
 *
 *     static int open_it(struct tkb_error *err) { ... }
 *     static const char *check(void) { ... }
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

#include <stdbool.h>

#include <tkbundle/error.h>
#include <tkbundle/entry.h>

/* When a look is taken. */
enum fault_moment {
	FAULT_REFUSED,  /* the call has failed: nothing is torn, or left over */
	FAULT_STARVED,  /* it has, and could not clean up for want of memory */
	FAULT_DONE_YET, /* it did its work all the same */
	FAULT_DONE      /* nothing failed: all is there, nothing is left over */
};

bool fault_is_done(enum fault_moment moment);

/* All but `call` may be NULL. */
struct fault_call {
	/* Make all as it is before the call. */
	void (*prepare)(void);

	/* The call, and nothing that allocates besides. */
	int (*call)(struct tkb_error *err);
	int wanted; /* what it returns where nothing fails */

	/* What a call that fails leaves alone: a pointer, and a report. */
	void *out; /* where the pointer is */
	void *report;
	size_t report_size;

	/* What one that does its work reports, and sends to fault_sink. */
	const void *wanted_report;
	struct tkb_bytes wanted_sent;
	bool goes_on; /* behind one that failed, it has less to report */

	/* What is wrong with what it did? And with all that is there, however it
	   ended? NULL: nothing is. */
	const char *(*check)(void);
	const char *(*look)(enum fault_moment moment);

	/* Release what a call gave that did its work. */
	void (*release)(void);
};

/* A sentence for a check to return; it holds for three more. */
const char *wrong(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* A report that must not be changed, but for its struct_size. */
void fault_soil_report(void *report, size_t size);
bool fault_report_is_soiled(const void *report, size_t size);

/*
 * A sink without an allocation; each call begins with an empty one. What was sent to
 * it; and what a call sends that must return 0, which lives as long as the test.
 */
extern const struct tkb_sink fault_sink;
void fault_empty_sink(void);
struct tkb_bytes fault_sent(void);
struct tkb_bytes fault_sent_by(int (*call)(struct tkb_error *err));

/* Does not return if anything is wrong: cmocka is told. */
void fault_each_allocation(const struct fault_call *call);

/* Skips the test where no allocation can be made to fail. */
void need_faults(void);

#endif
