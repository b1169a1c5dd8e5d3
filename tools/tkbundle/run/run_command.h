/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_COMMAND_H
#define TKBUNDLE_RUN_COMMAND_H

#include "run/run.h"

/*
 * The command: it gets our signal mask, descriptors, environment and process
 * group as we got them, and besides them the cache root.
 */

/*
 * Start it. Then give up our own hold on its descriptors, but for standard
 * error: who reads from it sees its end, not ours.
 *
 * @return whether it was started; it may still end with run->shared->exec_error
 */
bool run_command_start(struct run *run);

/*
 * Become the command.
 *
 * @return only if that fails: 126 or 127, as env(1) exits; it has been said
 */
enum status run_command_become(struct run *run);

/* The same where there is no `run` yet: as if tkbundle were not there. */
enum status run_command_become_alone(struct cli *cli,
                                     const struct arguments *args);

/* Say that it cannot be run. @return 126 or 127 */
enum status run_command_failed(const struct cli *cli,
                               const struct arguments *args, int error);

/* Does the command look for kernels in another place than the cache root? */
const char *run_command_elsewhere(const struct run *run);

#endif
