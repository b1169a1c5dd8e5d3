/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SOURCE_OUT_H
#define TKBUNDLE_SOURCE_OUT_H

#include "cli/cli.h"
#include "report/source.h"

/* How a bundle or a cache as a whole is shown, in words and in JSON. */

/* Add what it is, opened from `path`, to the open object. */
void source_out_head(struct json_out *json, const struct source *source,
                     const char *path);

/*
 * Report the entries of a cache that were left out, in words and in JSON. A
 * bundle has none. `side` is printed after "left out": " of A", or nothing.
 */
void source_out_left_out(struct cli *cli, const struct source *source,
                         const char *side);

#endif
