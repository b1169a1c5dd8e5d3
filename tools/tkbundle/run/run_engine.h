/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_ENGINE_H
#define TKBUNDLE_RUN_ENGINE_H

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

/* Set the plan's variables, for the command and for verbs. */
void run_engine_set(const struct run_plan *plan);

#endif
