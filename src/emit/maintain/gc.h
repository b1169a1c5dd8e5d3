/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_MAINTAIN_GC_H
#define TKB_EMIT_MAINTAIN_GC_H

/* The entries of a gc, and which of them to remove. */

#include <tkbundle/maintain.h>

#include "cache/cache.h"
#include "emit/batch.h"
#include "tree/locks.h"

/* A unit that was used within this time may still be in use. */
enum {
	TKB_GC_YOUNG_MINUTES = 10
};
#define TKB_GC_YOUNG_NS (TKB_GC_YOUNG_MINUTES * INT64_C(60000000000))
/* With relatime, access times may be a day old. */
#define TKB_GC_RELATIME_NS INT64_C(86400000000000)

/* An entry or a unit, and when it was last used. */
struct tkb_gc_item {
	const struct tkb_scanned_entry *found;
	struct tkb_use use;
	int64_t last_ns; /* its last use, or that of a unit that names it */
	size_t rank;     /* of a unit: higher than that of units that name it */
	bool is_chosen;  /* chosen for removal */
	bool is_hidden;  /* its group file, or all of a unit, is removed */
	bool is_gone;    /* a unit that is gone or, in a dry run, would be */
};

/* A unit, and its index in the items. */
struct tkb_gc_unit {
	const struct tkb_scanned_entry *found;
	size_t item;
};

/* Unit `index` has a text that names unit `named`. */
struct tkb_gc_naming {
	size_t index;
	size_t named;
};

/* Whether processes use a tree. */
struct tkb_gc_tree {
	bool is_held;     /* a run holds it */
	int64_t since_ns; /* since 1970; what was used later may be in use */
	bool is_locked;
	char lock[TKB_LOCK_PATH_SIZE]; /* a file that somebody holds */
};

struct tkb_gc {
	const struct tkb_gc_options *options;
	struct tkb_cache *cache;   /* owned */
	bool *has_times;           /* owned; by root: are access times kept? */
	struct tkb_batch batch;    /* its jobs are the items */
	struct tkb_gc_item *items; /* owned; the least recently used first */
	size_t item_count;
	struct tkb_gc_unit *units; /* owned; sorted by tree and name */
	size_t unit_count;
	struct tkb_gc_naming *namings; /* owned; sorted by the named unit */
	size_t naming_count;
	size_t naming_capacity;
	struct tkb_gc_tree *trees; /* owned; one per root */
	int64_t now_ns;            /* when the gc began, since 1970 */
	struct tkb_gc_report report;
};

/* Find out when the item was last used: see tkb_use_look(). */
TKB_NODISCARD int tkb_gc_look(const struct tkb_gc *gc,
                              const struct tkb_gc_item *item,
                              struct tkb_use *out, struct tkb_error *err);

/*
 * Sort the scanned items by their last use, choose which to remove, and make a
 * job for each item. The jobs of items that stay are never run.
 */
TKB_NODISCARD int tkb_gc_plan(struct tkb_gc *gc, struct tkb_error *err);

/*
 * Units of trees in a gc. Two more rules apply than for entries:
 *
 * An engine may fail to start if its index names something that is missing. So
 * if a text of one unit names another unit, the named unit counts as used
 * whenever the first was, is never removed before it, and stays if the first
 * stays.
 *
 * An engine reads and writes the files of a unit one after another, and engines
 * have no common way to show that they are doing so. So a unit stays if it was
 * read or written in the last ten minutes. All units of a tree stay if somebody
 * holds a lock in the tree. And while a `tkbundle run` uses the tree (see
 * emit/hold.h), all units stay that may have been read since that run began.
 */

/*
 * Find out which units name which others, and when each unit was last used.
 * Call this before the items are sorted.
 */
TKB_NODISCARD int tkb_gc_bind_units(struct tkb_gc *gc, struct tkb_error *err);

/* Update the indices of the units after the items were sorted. */
void tkb_gc_index_units(struct tkb_gc *gc);

/* Find out whether processes use the trees. */
TKB_NODISCARD int tkb_gc_look_at_trees(struct tkb_gc *gc,
                                       struct tkb_error *err);

/*
 * May the unit be removed? Returns 0, TKB_MISS (it is gone already), or a
 * failure. If the unit must stay, the failure has the reason "busy".
 */
TKB_NODISCARD int tkb_gc_check_unit(const struct tkb_gc *gc,
                                    const struct tkb_gc_item *item,
                                    struct tkb_loader *loader,
                                    struct tkb_error *err);

/*
 * Check the unit again, and move it into the stage by one rename. If there is
 * no stage, as on a full disk, unlink its files one by one; files that name
 * others go first.
 */
TKB_NODISCARD int tkb_gc_remove_unit(struct tkb_gc *gc, size_t index,
                                     struct tkb_loader *loader,
                                     struct tkb_error *err);

#endif
