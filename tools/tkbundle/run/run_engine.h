/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_ENGINE_H
#define TKBUNDLE_RUN_ENGINE_H

#include "config/trees.h"
#include "run/run.h"

/*
 * What a command needs that is an engine: which profile it has, a place for each
 * of its caches, and variables that make it ask for the same on every machine.
 * What the user has set stays.
 */

/*
 * Fill in the plan's engines, trees and variables, and set those variables here.
 * Done in a child: profiles and folders may hang.
 *
 * @return false: the plan's message says why
 */
bool run_engine_plan(const struct arguments *args, struct run_plan *plan);

/*
 * The trees of the plan's engines and of the command line, as the verbs find them;
 * the caller releases them. Done in a child, too.
 */
TKB_NODISCARD int run_engine_trees(const struct arguments *args,
                                   const struct run_plan *plan,
                                   struct trees *out, struct tkb_error *err);

/* With --verbose: which engine it is, and what has been set for it. */
void run_engine_say(const struct run *run);

/* Set the plan's variables, for the command and for verbs. */
void run_engine_set(const struct run_plan *plan);

#endif
