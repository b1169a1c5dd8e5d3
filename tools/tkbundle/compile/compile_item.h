/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_ITEM_H
#define TKBUNDLE_COMPILE_ITEM_H

#include <tkbundle/compile.h>

#include "cli/args.h"
#include "cli/deadline.h"
#include "cli/progress.h"

/* The inputs of `compile`, each for each target, and their results. */

enum compile_outcome {
	COMPILE_LEFT, /* not done: after a failure, or no time was left */
	COMPILE_DONE,
	COMPILE_HIT,
	COMPILE_FAILED
};

/* One input for one target. */
struct compile_item {
	const char *path;             /* borrowed */
	char target[64];              /* "cuda:90" */
	char key[TKB_ENTRY_KEY_SIZE]; /* "" until it is known */
	struct tkb_compile *compile;  /* owned; NULL: not begun, or ended */
	char *maker; /* owned; its maker, if not noted yet; or NULL */
	enum compile_outcome outcome;
	bool is_read; /* later errors are not about the file */
	int status;   /* why it failed */
	struct tkb_error err;
};

struct compile_work {
	struct cli *cli;
	const struct arguments *args;
	struct tkb_compiler *compiler; /* owned */
	const char *root;              /* where entries are written; NULL:
	                                  nowhere */
	struct deadline deadline;
	struct progress progress;
	struct compile_item *items; /* owned */
	size_t count;
	size_t begun; /* number of items before the current one */
	size_t ended;
	uint64_t counts[COMPILE_FAILED + 1]; /* numbers of items, by outcome */
	bool is_stopped;                     /* begin no more */
	char tools[1024];                    /* the tools that took part */
	FILE *log;                           /* owned; the log of sources, or
	                                        NULL */
	const struct compile_item *logged;   /* the item whose source is logged
	                                        next */
	enum status status;                  /* the merged status of the
	                                        failures */
};

#endif
