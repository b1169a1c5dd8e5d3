/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TABLE_H
#define TKBUNDLE_COMPILE_TABLE_H

#include "cli/args.h"

/*
 * Decide which options of `compile` have a meaning for which inputs and
 * outputs. docs/compile.md shows the same table.
 */

/* @return STATUS_DONE, or STATUS_USAGE: an option has none, which is printed */
enum status compile_table_check(const struct cli *cli,
                                const struct arguments *args);

#endif
