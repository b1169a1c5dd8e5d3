/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_READY_H
#define TKBUNDLE_RUN_READY_H

#include "config/config.h"
#include "run/run.h"

/* Is the server ready? By default nobody asks, and a quiet time tells. */

/* What makes no sense on the command line; it is said. */
enum status run_ready_check(const struct cli *cli,
                            const struct arguments *args);

/*
 * Choose what is asked: what the command line says, else the configuration. Look
 * at the file, as it is before the command.
 */
void run_ready_plan(const struct arguments *args, const struct config *config,
                    struct run_plan *out);

/* Is anything asked? */
bool run_ready_is_asked(const struct run_plan *plan);

/* Ask until it is ready. For a child that is killed with the command. */
void run_ready_wait(struct run_shared *shared);

#endif
