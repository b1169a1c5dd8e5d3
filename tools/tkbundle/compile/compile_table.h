/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TABLE_H
#define TKBUNDLE_COMPILE_TABLE_H

#include "cli/args.h"

/*
 * Which options of `compile` have a meaning for which inputs, and for what is to
 * come out. docs/compile.md shows the same table.
 */

/* STATUS_DONE, or STATUS_USAGE: an option has none, which is said. */
enum status compile_table_check(const struct cli *cli,
                                const struct arguments *args);

#endif
