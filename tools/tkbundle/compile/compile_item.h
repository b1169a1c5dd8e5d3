/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_ITEM_H
#define TKBUNDLE_COMPILE_ITEM_H

#include <tkbundle/compile.h>

#include "cli/args.h"
#include "cli/deadline.h"
#include "cli/progress.h"

/* The inputs of `compile`, each for each target, and what becomes of them. */

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
	char *maker; /* owned; what made it, not noted yet; NULL: nothing */
	enum compile_outcome outcome;
	bool is_read; /* later errors are not about the file */
	int status;   /* why it failed */
	struct tkb_error err;
};

struct compile_work {
	struct cli *cli;
	const struct arguments *args;
	struct tkb_compiler *compiler; /* owned */
	const char *root;              /* where entries go; NULL: nowhere */
	struct deadline deadline;
	struct progress progress;
	struct compile_item *items; /* owned */
	size_t count;
	size_t begun; /* number of items before the present one */
	size_t ended;
	uint64_t counts[COMPILE_FAILED + 1]; /* by outcome */
	bool is_stopped;                     /* begin no more */
	char tools[1024];                    /* what took part */
	FILE *log;                           /* owned; of sources; or NULL */
	const struct compile_item *logged;   /* whose source comes next */
	enum status status;                  /* what the failures merge to */
};

#endif
