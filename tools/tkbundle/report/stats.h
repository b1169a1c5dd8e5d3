/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATS_H
#define TKBUNDLE_STATS_H

#include "report/source.h"

/*
 * Bytes and counts of the contents of a source, from its list; no file is read.
 *
 *     TKB_AUTO(stats_release) struct stats stats = { 0 };
 *
 *     rc = stats_gather(&source, &stats, &err);
 *
 * An entry for several devices counts once, as in a bundle.
 */

/* The counts of a group of files. */
struct stats_sum {
	uint64_t count;
	uint64_t size; /* bytes */
};

/* All files of one extension. */
struct stats_type {
	const char *name; /* the part after the last dot; "" if there is none */
	struct stats_sum files;
	bool is_dropped;     /* a lean bundle does not have kernels' */
	uint64_t path_count; /* absolute paths in these files; see
	                        stats_paths.h */
	uint64_t own_count;  /* further paths, which collect replaces by a
	                        sentinel */
};

/* All entries of one kind and name. */
struct stats_name {
	enum tkb_kind kind;
	const char *name;
	uint64_t entry_count;
	struct stats_sum files;
};

/* All units of one tree. */
struct stats_tree {
	const char *name;
	uint64_t unit_count;
	struct stats_sum files;
	uint64_t path_count; /* absolute paths that stay in them */
};

struct stats {
	uint64_t entry_count;
	struct stats_sum files;
	struct stats_sum repeats; /* files that are equal to an earlier one */
	struct stats_sum dropped; /* files that a lean bundle does not have */
	struct stats_type *types; /* owned; by name */
	size_t type_count;
	struct stats_name *names; /* owned; the largest first */
	size_t name_count;
	struct stats_tree *trees; /* owned; by name */
	size_t tree_count;
};

/*
 * @param source  opened and hashed; must live until `out` is released
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int stats_gather(const struct source *source, struct stats *out,
                               struct tkb_error *err);

/* For TKB_AUTO. */
void stats_release(struct stats *stats);

/* The tree of the unit `entry` of the source; NULL: it is not a unit. */
struct stats_tree *stats_find_tree(const struct stats *stats,
                                   const struct tkb_entry *entry);

/* The type of the file `name`, which must belong to the source. */
struct stats_type *stats_find_type(const struct stats *stats, const char *name);

#endif
