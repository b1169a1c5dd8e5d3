/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATS_PATHS_H
#define TKBUNDLE_STATS_PATHS_H

#include "report/path_table.h"
#include "report/stats.h"

/*
 * Read every file of `source`, and count the absolute paths in it: by type in
 * `stats`, and by path in `table`. Paths that collect would replace by a
 * sentinel are counted separately.
 *
 * @param stats  the stats of `source`
 * @param table  empty; sorted afterwards
 * @return as source_read_all()
 */
TKB_NODISCARD int stats_paths(const struct source *source, struct stats *stats,
                              struct path_table *table, struct tkb_error *err);

#endif
