/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_READY_H
#define TKBUNDLE_RUN_READY_H

#include "config/config.h"
#include "run/run.h"

/*
 * Is the server ready? It is asked if the user says how; otherwise a quiet time
 * counts as ready.
 */

/* What makes no sense on the command line; it is said. */
enum status run_ready_check(const struct cli *cli,
                            const struct arguments *args);

/*
 * Decide what to ask: as the command line says, else the configuration. Note
 * the file's state before the command.
 */
void run_ready_plan(const struct arguments *args, const struct config *config,
                    struct run_plan *out);

/* Is there anything to ask? */
bool run_ready_is_asked(const struct run_plan *plan);

/* Ask until it is ready. For a child, which is killed when the command ends. */
void run_ready_wait(struct run_shared *shared);

#endif
