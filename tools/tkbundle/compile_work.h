/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_WORK_H
#define TKBUNDLE_COMPILE_WORK_H

#include <tkbundle/compile.h>

#include "args.h"
#include "deadline.h"

/*
 * The work of `compile`: each input for each target, through one compiler. They
 * are begun in their order, some ahead, and end in it, so that what is printed
 * does not depend on which is done first.
 */
enum compile_outcome {
	COMPILE_LEFT, /* not done: after a failure, or for want of time */
	COMPILE_DONE,
	COMPILE_HIT,
	COMPILE_FAILED
};

/* One input for one target. */
struct compile_item {
	const char *path;             /* borrowed */
	char target[64];              /* "cuda:90" */
	char key[TKB_ENTRY_KEY_SIZE]; /* "" until it is known */
	struct tkb_compile *compile;  /* owned; NULL: not begun, or it ended */
	enum compile_outcome outcome;
	bool is_read; /* what fails now is not the file */
	int status;   /* why it failed */
	struct tkb_error err;
};

struct compile_work {
	struct cli *cli;
	const struct arguments *args;
	struct tkb_compiler *compiler; /* owned */
	const char *root;              /* where entries go; NULL: nowhere */
	struct deadline deadline;
	struct compile_item *items; /* owned */
	size_t count;
	size_t begun; /* items before this one were */
	size_t ended;
	uint64_t counts[COMPILE_FAILED + 1]; /* by outcome */
	bool is_stopped;                     /* begin no more */
	char tools[1024];                    /* what took part */
	FILE *log;                           /* owned; of sources; or NULL */
	const struct compile_item *logged;   /* whose source comes next */
	enum status status;                  /* what the failures merge to */
};

/*
 * Make the items, and find out which tools there are. A failure, which is about
 * no single input, is printed.
 *
 * @param operands  the inputs; borrowed until release
 */
enum status compile_work_begin(struct compile_work *work,
                               const char *const *operands, size_t count);

/* Do it all. What fails is printed, and counted. */
void compile_work_do(struct compile_work *work);

/* For TKB_AUTO: end the workers. */
void compile_work_release(struct compile_work *work);

/* "cuda:90", as the library wants it. */
void compile_work_target(const struct tkb_target *target, char out[64]);

#endif
