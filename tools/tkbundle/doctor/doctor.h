/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DOCTOR_H
#define TKBUNDLE_DOCTOR_H

#include "cli/args.h"
#include "cli/cli.h"

/*
 * Examine everything, and print the results.
 *
 * @return STATUS_DONE (warm), STATUS_PARTIAL, STATUS_ABSENT (cold),
 *         STATUS_USAGE or STATUS_FAILED (something could not be examined)
 */
enum status doctor_run(struct cli *cli, const struct arguments *args);

#endif
