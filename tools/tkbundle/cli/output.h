/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_OUTPUT_H
#define TKBUNDLE_OUTPUT_H

#include "cli/args.h"
#include "cli/cli.h"

/* The bundle that a verb writes to a file or to standard output: `-o`. */

/* Is it `-o -` or `-o /dev/stdout`, or a link to the latter? */
bool output_is_stdout(const struct arguments *args);

/*
 * Refuse to write a bundle to a terminal, or together with a document.
 *
 * @return STATUS_DONE or STATUS_USAGE
 */
enum status output_check(const struct cli *cli, const struct arguments *args);

/*
 * Refuse to write over `input`, a file of another format; NULL: none is read.
 *
 * @return STATUS_DONE or STATUS_USAGE
 */
enum status output_check_input(const struct cli *cli,
                               const struct arguments *args, const char *input);

/*
 * Where the summary goes: standard error if the bundle is on standard output.
 */
FILE *output_log(const struct cli *cli, const struct arguments *args);

/* The name of the output in a summary. */
const char *output_name(const struct arguments *args);

#endif
