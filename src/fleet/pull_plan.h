/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PULL_PLAN_H
#define TKB_FLEET_PULL_PLAN_H

/*
 * Plans a pull. A place is a key on one device. The plan has the places that the
 * options select, whether each has a complete entry, and which records supply
 * the missing ones.
 *
 *     rc = tkb_pull_plan_open(&request, &plan, err);
 *     rc = tkb_pull_plan_inspect(plan, err);     what is in the cache?
 *     rc = tkb_pull_plan_check(plan, remote, limit_ms, err);
 *                                                is it what it should be?
 *     count = tkb_pull_plan_choose(plan, choices); which records bring the rest?
 */

#include <tkbundle/emit.h>

#include "cache/root.h"
#include "cache/scanned_entry.h"
#include "records/records.h"
#include "remote/remote.h"

struct tkb_pull_plan_request {
	const char *cache_root;
	const struct tkb_emit_options *options; /* not copied; its keys are
	                                           complete */
	/* Not copied. The first suitable record is chosen. */
	const struct tkb_record_list *records;
};

/*
 * The destination of an entry. In Triton's layout, all devices share one place.
 */
struct tkb_pull_place {
	const char *key;
	const char *tree; /* the tree of a unit, else NULL */
	const char *name; /* the path of a unit in its tree, else NULL */
	uint32_t device;
	unsigned kinds;  /* a bit for each kind that a record names */
	bool is_trusted; /* written or verified here since boot */
	bool is_bad;     /* differs from its record's bundle */
	bool is_present;
	bool is_coming;             /* a chosen record supplies it */
	struct tkb_version version; /* of a unit: the newest, if it has any */
};

struct tkb_pull_plan {
	struct tkb_pull_plan_request request;
	enum tkb_layout layout; /* for all bundles; never TKB_LAYOUT_AUTO */
	struct tkb_roots roots; /* existing roots of the cache, and all trees */
	struct tkb_named_root *named; /* owned; roots of the trees */
	struct tkb_loader *loaders;   /* owned; one for each thread */
	size_t loader_count;
	struct tkb_gpu_here here;      /* used for tuned units */
	struct tkb_pull_place *places; /* owned; sorted by key and device,
	                                  unique */
	size_t place_count;
	size_t place_capacity;
	bool *is_tried; /* owned; by record */
};

TKB_NODISCARD int tkb_pull_plan_open(
	const struct tkb_pull_plan_request *request, struct tkb_pull_plan **out,
	struct tkb_error *err);
void tkb_pull_plan_close(struct tkb_pull_plan *plan);

/*
 * Iterates over a record's entries and their places:
 *
 *     struct tkb_pull_walk walk = { .plan = plan, .record = record };
 *
 *     while (tkb_pull_walk_next(&walk))
 *             use(walk.entry, walk.device, walk.place);
 */
struct tkb_pull_walk {
	const struct tkb_pull_plan *plan;
	const struct tkb_record *record;
	const struct tkb_record_entry *entry;
	uint32_t device;
	struct tkb_pull_place *place; /* NULL: the entry is not wanted */
	size_t entry_count;           /* entries seen so far */
	const uint32_t *devices;
	size_t device_count;
	size_t next_device;
};

bool tkb_pull_walk_next(struct tkb_pull_walk *walk);

/* Is the entry older than the version wanted at `place` (may be NULL)? */
bool tkb_pull_is_old(const struct tkb_pull_place *place,
                     const struct tkb_record_entry *entry);

/*
 * For each entry of the record, set in `out` whether it is an older version
 * than the plan wants. Returns whether any is.
 */
bool tkb_pull_plan_list_old(const struct tkb_pull_plan *plan,
                            const struct tkb_record *record, bool *out);

/*
 * The root of the tree `tree`, or, if `tree` is NULL, of `device` in the cache.
 * NULL if the root does not exist.
 */
const struct tkb_root *tkb_pull_plan_root(const struct tkb_pull_plan *plan,
                                          const char *tree, uint32_t device);

/*
 * Inspect the places: find out which entries are in the cache (pull_inspect.c).
 */
TKB_NODISCARD int tkb_pull_plan_inspect(struct tkb_pull_plan *plan,
                                        struct tkb_error *err);

/*
 * Remove the stages of dead emits in existing roots. Usually an emit does so,
 * but if nothing is missing, no emit follows.
 */
void tkb_pull_plan_clean(const struct tkb_pull_plan *plan);

/*
 * Compare present entries with the manifests of their records' bundles, as an
 * emit does (pull_check.c), except those written or verified since boot. An
 * entry that differs counts as missing. Of each bundle only the manifest is
 * fetched; if that fails, entries that look complete count as present. After
 * `limit_ms`, or if the remote's watch cancels, this ends with
 * TKB_ERR_CANCELLED, and unchecked entries count as present.
 */
TKB_NODISCARD int tkb_pull_plan_check(struct tkb_pull_plan *plan,
                                      struct tkb_remote *remote,
                                      uint32_t limit_ms, struct tkb_error *err);

/* A record to fetch. */
struct tkb_choice {
	size_t record;
	size_t place_count;   /* places that it supplies */
	size_t missing_count; /* those that no earlier choice supplies */
};

/*
 * Count the places that record `index` would supply. With `marks`, mark them as
 * coming.
 */
struct tkb_choice tkb_pull_plan_weigh(struct tkb_pull_plan *plan, size_t index,
                                      bool marks);

/*
 * Choose records to fetch; each record is chosen at most once per plan. `out`
 * has room for all records. Returns how many were chosen.
 */
size_t tkb_pull_plan_choose(struct tkb_pull_plan *plan, struct tkb_choice *out);

/* How many places had a complete entry at the last inspection? */
size_t tkb_pull_plan_present(const struct tkb_pull_plan *plan);

/* Does the record have any wanted entry, present or not? */
bool tkb_pull_plan_uses(const struct tkb_pull_plan *plan, size_t record);

/*
 * Write notes beside the cache from the records of their entries: how long they took
 * to compile, what made them, and, under a policy, which digests would have to be
 * revoked to revoke them (pull_notes.c). A note that cannot be written is skipped;
 * the only failure is TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_pull_note(const struct tkb_pull_plan *plan,
                                const char *root, struct tkb_error *err);

#endif
