/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_READY_H
#define TKBUNDLE_RUN_READY_H

#include "config/config.h"
#include "run/run.h"

/*
 * Find out whether the server is ready, if the user says how to ask; otherwise
 * a quiet time counts as ready.
 */

/* Check the command line; print what makes no sense. */
enum status run_ready_check(const struct cli *cli,
                            const struct arguments *args);

/*
 * Decide whether to ask a URL or a file: as the command line says, else the
 * configuration. Note the state of the file before the command.
 */
void run_ready_plan(const struct arguments *args, const struct config *config,
                    struct run_plan *out);

/* Has the user said how to ask? */
bool run_ready_is_asked(const struct run_plan *plan);

/*
 * Ask until the server is ready. For a child, which is killed when the command
 * ends.
 */
void run_ready_wait(struct run_shared *shared);

#endif
