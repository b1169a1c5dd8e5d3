/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SOURCE_OUT_H
#define TKBUNDLE_SOURCE_OUT_H

#include "cli/cli.h"
#include "report/source.h"

/* Print a bundle or a cache as a whole, as text and as JSON. */

/* Add the facts about the source, opened from `path`, to the open object. */
void source_out_head(struct json_out *json, const struct source *source,
                     const char *path);

/* Say which entries of a cache were left out, as source_out_left_out() does. */
void source_out_say_left_out(const struct cli *cli, const struct source *source,
                             const char *side);

/*
 * Report the entries of a cache that were left out, as text and as JSON. A
 * bundle has none. `side` is printed after "left out": " of A", or nothing.
 */
void source_out_left_out(struct cli *cli, const struct source *source,
                         const char *side);

#endif
