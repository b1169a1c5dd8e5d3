/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATS_OUT_H
#define TKBUNDLE_STATS_OUT_H

#include "cli/json_out.h"
#include "report/path_table.h"
#include "report/stats.h"

/* What to print. */
struct stats_out {
	const struct source *source;
	const struct stats *stats;
	const struct path_table *paths; /* NULL: paths were not searched */
	struct stats_sum launchers;     /* saved launchers of a bundle */
	bool has_packed;                /* is the size of its file known? */
	uint64_t packed;                /* bytes */
};

/* Print the first rows of the tables, and the totals. */
void stats_out_print(FILE *to, const struct stats_out *shown);

/* Print an empty line, then only the tables of trees, if any, and of types. */
void stats_out_print_parts(FILE *to, const struct stats_out *shown);

/* Add only the lists "types" and "trees". */
void stats_out_json_parts(struct json_out *json, const struct stats_out *shown);

/* Add everything to the open object. */
void stats_out_json(struct json_out *json, const struct stats_out *shown);

#endif
