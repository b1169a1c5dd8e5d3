/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_COMMAND_H
#define TKBUNDLE_RUN_COMMAND_H

#include "run/run.h"

/*
 * Start the command. It gets the signal mask, descriptors, environment and
 * process group that we were started with, and also the cache root.
 */

/*
 * Start the command. Then close our copies of its descriptors, except standard
 * error, so that a reader of its output sees when the command ends, and not
 * when we do.
 *
 * @return whether the fork was started; it may still fail and set
 *         run->shared->exec_error
 */
bool run_command_start(struct run *run);

/*
 * Execute the command in this process.
 *
 * @return only on failure: 126 or 127, as env(1) does; a message was printed
 */
enum status run_command_become(struct run *run);

/* The same without a struct run: as if tkbundle had not been called. */
enum status run_command_become_alone(struct cli *cli,
                                     const struct arguments *args);

/* Print why the command cannot be run. @return 126 or 127 */
enum status run_command_failed(const struct cli *cli,
                               const struct arguments *args, int error);

/*
 * The variable that makes the command look for kernels elsewhere than in the
 * root, or NULL.
 */
const char *run_command_elsewhere(const struct run *run);

#endif
