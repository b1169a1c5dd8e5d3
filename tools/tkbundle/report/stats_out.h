/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATS_OUT_H
#define TKBUNDLE_STATS_OUT_H

#include "cli/json_out.h"
#include "report/path_table.h"
#include "report/stats.h"

/* What is shown. */
struct stats_out {
	const struct source *source;
	const struct stats *stats;
	const struct path_table *paths; /* NULL: they were not looked for */
	struct stats_sum launchers;     /* that a bundle holds besides */
	bool has_packed;                /* is the size of its file known? */
	uint64_t packed;                /* bytes */
};

/* Print the tables, cut short, and the totals. */
void stats_out_print(FILE *to, const struct stats_out *shown);

/* Print behind an empty line the tables of trees, if any, and of types alone. */
void stats_out_print_parts(FILE *to, const struct stats_out *shown);

/* Add the lists "types" and "trees" alone. */
void stats_out_json_parts(struct json_out *json, const struct stats_out *shown);

/* Add all of it to the open object. */
void stats_out_json(struct json_out *json, const struct stats_out *shown);

#endif
