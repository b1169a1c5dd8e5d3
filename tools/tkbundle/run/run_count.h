/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_COUNT_H
#define TKBUNDLE_RUN_COUNT_H

#include "run/run.h"

/*
 * Count used and compiled entries, and find entries that no watch has reported.
 * Emitted entries are listed in the pull's document. `self` is a struct run.
 */
void run_count(void *self);

/*
 * The same before a push, which also needs run_shared.again. Only one process
 * at a time may do this.
 */
void run_count_to_push(void *self);

/*
 * What was written up to this time is known; what was written later, the
 * command has written.
 */
int64_t run_count_known_until(const struct run *run);

/* Receives each entry that the command made. */
struct run_made_visitor {
	/*
	 * @param tree  of a unit: its tree; else NULL
	 * @param name  of a unit: its path in the tree; else the key
	 */
	void (*made)(void *self, const char *tree, const char *name);
	void *self;
};

/* Visit all entries that the command made. */
void run_count_made(struct run *run, const struct run_made_visitor *visitor);

#endif
