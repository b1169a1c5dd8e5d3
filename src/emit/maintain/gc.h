/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_MAINTAIN_GC_H
#define TKB_EMIT_MAINTAIN_GC_H

/* The entries of a gc, and which of them have to go. */

#include <tkbundle/maintain.h>

#include "cache/cache.h"
#include "emit/batch.h"
#include "tree/locks.h"

/* A unit that was used within this time may be in use. */
enum {
	TKB_GC_YOUNG_MINUTES = 10
};
#define TKB_GC_YOUNG_NS (TKB_GC_YOUNG_MINUTES * INT64_C(60000000000))
/* With relatime, access times may be a day old. */
#define TKB_GC_RELATIME_NS INT64_C(86400000000000)

/* An entry or a unit, and its last use. */
struct tkb_gc_item {
	const struct tkb_scanned_entry *found;
	struct tkb_use use;
	int64_t last_ns; /* its last use, or that of a unit that names it */
	size_t rank;     /* of a unit: more than that of units that name it */
	bool is_chosen;  /* chosen for removal */
	bool is_hidden;  /* its group file is removed, or all of a unit */
	bool is_gone;    /* a unit that is gone, or (in a dry run) would be */
};

/* A unit, and its index among the items. */
struct tkb_gc_unit {
	const struct tkb_scanned_entry *found;
	size_t item;
};

/* A text of unit `index` names unit `named`. */
struct tkb_gc_naming {
	size_t index;
	size_t named;
};

/* Who uses a tree. */
struct tkb_gc_tree {
	bool is_held;     /* by a run */
	int64_t since_ns; /* since 1970; what was used later may be in use */
	bool is_locked;
	char lock[TKB_LOCK_PATH_SIZE]; /* a file that somebody holds */
};

struct tkb_gc {
	const struct tkb_gc_options *options;
	struct tkb_cache *cache; /* owned */
	bool *has_times;        /* owned; by root: does it keep access times? */
	struct tkb_batch batch; /* its jobs are the items */
	struct tkb_gc_item *items; /* owned; the least recently used first */
	size_t item_count;
	struct tkb_gc_unit *units; /* owned; by tree and name */
	size_t unit_count;
	struct tkb_gc_naming *namings; /* owned; by what is named */
	size_t naming_count;
	size_t naming_capacity;
	struct tkb_gc_tree *trees; /* owned; by root */
	int64_t now_ns;            /* since 1970, when it began */
	struct tkb_gc_report report;
};

/* Find out when the item was last used: see tkb_use_look(). */
TKB_NODISCARD int tkb_gc_look(const struct tkb_gc *gc,
                              const struct tkb_gc_item *item,
                              struct tkb_use *out, struct tkb_error *err);

/*
 * Sort what was scanned by its last use, choose what is removed, and make a job
 * for each item; jobs of items that stay are never run.
 */
TKB_NODISCARD int tkb_gc_plan(struct tkb_gc *gc, struct tkb_error *err);

/*
 * Units of trees in a gc. Two rules more than for entries hold:
 *
 * An engine may fail to start with an index that names what is not there. So a
 * unit that a text of another one names counts as used when that one was, never
 * goes before it, and stays where that one stays.
 *
 * An engine reads a unit's files one after another, and writes them so; it has no
 * sign for either that all engines share. So a unit stays that was read or written
 * in the last ten minutes; all units of a tree stay in which somebody holds a lock;
 * and while a `tkbundle run` lives that uses the tree (see emit/hold.h), those stay
 * that may have been read since it began.
 */

/*
 * Find out which units name which others, and when each was last used. Called
 * before the items are sorted.
 */
TKB_NODISCARD int tkb_gc_bind_units(struct tkb_gc *gc, struct tkb_error *err);

/* Update the units' indices, after the items were sorted. */
void tkb_gc_index_units(struct tkb_gc *gc);

/* Find out who uses each tree that something is removed from. */
TKB_NODISCARD int tkb_gc_look_at_trees(struct tkb_gc *gc,
                                       struct tkb_error *err);

/*
 * May the unit go? Returns 0, TKB_MISS (it has gone), or a failure, which has the
 * reason "busy" if it must stay.
 */
TKB_NODISCARD int tkb_gc_check_unit(const struct tkb_gc *gc,
                                    const struct tkb_gc_item *item,
                                    struct tkb_loader *loader,
                                    struct tkb_error *err);

/*
 * Check the unit as above, and move it into the stage by one rename. Where
 * there is no stage, as on a full disk, unlink its files one by one, those that
 * name others first.
 */
TKB_NODISCARD int tkb_gc_remove_unit(struct tkb_gc *gc, size_t index,
                                     struct tkb_loader *loader,
                                     struct tkb_error *err);

#endif
