/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_ENGINE_H
#define TKBUNDLE_RUN_ENGINE_H

#include "config/trees.h"
#include "run/run.h"

/*
 * Prepare an engine as the command: its profile, a place for each of its
 * caches, and variables that give it the same keys on every machine. Variables
 * that the user has set are kept.
 */

/*
 * Fill in the plan's engines, trees and variables, and set the variables here.
 * Called in a child: folders may hang.
 *
 * @return false on failure: the plan's message says why
 */
bool run_engine_plan(const struct arguments *args, struct run_plan *plan);

/*
 * Find the trees of the plan's engines and of the command line, like other
 * verbs; the caller releases them. Called in a child.
 */
TKB_NODISCARD int run_engine_trees(const struct arguments *args,
                                   const struct run_plan *plan,
                                   struct trees *out, struct tkb_error *err);

/* With --verbose: print the engine, and the variables that were set. */
void run_engine_say(const struct run *run);

/*
 * Set a variable here and for the command; one that is too long is not set.
 * Called in a child.
 */
void run_engine_add(struct run_plan *plan, const char *name, const char *value);

/* The value that the plan gives a variable; NULL: it does not set it. */
const char *run_engine_variable(const struct run_plan *plan, const char *name);

/* Set the plan's variables, for the command and for verbs. */
void run_engine_set(const struct run_plan *plan);

#endif
