/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_START_OUT_H
#define TKBUNDLE_START_OUT_H

#include "cli/cli.h"
#include "why/start.h"

/* Print why a start compiled what it did, or add it to the document. */
void start_out_one(struct cli *cli, const struct start *start);

/*
 * Compare the facts of two starts, and print the entries called `name` that
 * each compiled. False: something differs.
 */
bool start_out_two(struct cli *cli, const char *name, const struct start *a,
                   const struct start *b);

#endif
