/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PULL_PLAN_H
#define TKB_FLEET_PULL_PLAN_H

/*
 * What a pull needs of a ref: the places (a key, at one device) that its options
 * let pass, whether a whole entry is at each, and which records bring what is
 * missing.
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
	const struct tkb_emit_options *options; /* kept by reference; its keys
	                                           are whole */
	/* Kept by reference, too. The first record that suits is chosen. */
	const struct tkb_record_list *records;
};

/* Where an entry goes. Under Triton's layout all devices are one. */
struct tkb_pull_place {
	const char *key;
	const char *tree; /* of a unit, else NULL */
	const char *name; /* likewise: its path in the tree */
	uint32_t device;
	unsigned kinds;  /* one bit for each kind that a record gives it */
	bool is_trusted; /* written or verified here since boot */
	bool is_bad;     /* differs from what its record's bundle says */
	bool is_present;
	bool is_coming;             /* a chosen record has it */
	struct tkb_version version; /* of what was tuned: the newest */
};

struct tkb_pull_plan {
	struct tkb_pull_plan_request request;
	enum tkb_layout layout; /* of all bundles: not TKB_LAYOUT_AUTO */
	struct tkb_roots roots; /* existing ones of the cache, and all trees */
	struct tkb_named_root *named; /* owned; of the trees */
	struct tkb_loader loader;
	struct tkb_gpu_here here;      /* asked where something was tuned */
	struct tkb_pull_place *places; /* owned; by key and device, each once */
	size_t place_count;
	size_t place_capacity;
	bool *is_tried; /* owned; by record */
};

TKB_NODISCARD int tkb_pull_plan_open(
	const struct tkb_pull_plan_request *request, struct tkb_pull_plan **out,
	struct tkb_error *err);
void tkb_pull_plan_close(struct tkb_pull_plan *plan);

/*
 * Goes through the places of a record's entries:
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
	struct tkb_pull_place *place; /* NULL: not wanted */
	size_t entry_count;           /* among the places reached so far */
	const uint32_t *devices;
	size_t device_count;
	size_t next_device;
};

bool tkb_pull_walk_next(struct tkb_pull_walk *walk);

/* Is the entry an older version than `place` (may be NULL) is to have? */
bool tkb_pull_is_old(const struct tkb_pull_place *place,
                     const struct tkb_record_entry *entry);

/*
 * For each entry of the record, set in `out` whether it is an older version
 * than the plan wants. Returns whether any is.
 */
bool tkb_pull_plan_list_old(const struct tkb_pull_plan *plan,
                            const struct tkb_record *record, bool *out);

/*
 * The root of tree `tree`, or, if that is NULL, of `device` in the cache. NULL
 * if it does not exist.
 */
const struct tkb_root *tkb_pull_plan_root(const struct tkb_pull_plan *plan,
                                          const char *tree, uint32_t device);

/* Find out what is in the cache (pull_inspect.c). */
TKB_NODISCARD int tkb_pull_plan_inspect(struct tkb_pull_plan *plan,
                                        struct tkb_error *err);

/*
 * Remove the stages of dead emits in existing roots: where nothing is missing,
 * no emit follows that would.
 */
void tkb_pull_plan_clean(const struct tkb_pull_plan *plan);

/*
 * Compare what is present, and was not written or verified since boot, with the
 * manifests of the records' bundles, as an emit does (pull_check.c). What
 * differs counts as missing. Of each bundle only the manifest is fetched; if
 * that fails, what looks whole stays present. After `limit_ms`, or if the
 * remote's watch cancels, it ends with TKB_ERR_CANCELLED, and what was not
 * checked by then stays present.
 */
TKB_NODISCARD int tkb_pull_plan_check(struct tkb_pull_plan *plan,
                                      struct tkb_remote *remote,
                                      uint32_t limit_ms, struct tkb_error *err);

/* A record that is to be fetched. */
struct tkb_choice {
	size_t record;
	size_t place_count;   /* places that it fills */
	size_t missing_count; /* those that no earlier choice brings */
};

/*
 * Which places would record `index` fill? With `marks`, they are marked as
 * coming.
 */
struct tkb_choice tkb_pull_plan_weigh(struct tkb_pull_plan *plan, size_t index,
                                      bool marks);

/*
 * Choose records to fetch, each at most once in the life of the plan. `out` has
 * room for all records. Returns how many were chosen.
 */
size_t tkb_pull_plan_choose(struct tkb_pull_plan *plan, struct tkb_choice *out);

/* How many places had a whole entry at the last inspection? */
size_t tkb_pull_plan_present(const struct tkb_pull_plan *plan);

/* Does the record have anything that is wanted, present or not? */
bool tkb_pull_plan_uses(const struct tkb_pull_plan *plan, size_t record);

/*
 * Note beside the cache what the records tell of their entries: how long they took
 * to compile, what made them, and, under a policy, what would have to be revoked to
 * revoke them (pull_notes.c). A note that cannot be written is left out; memory that
 * is short is the one failure.
 */
TKB_NODISCARD int tkb_pull_note(const struct tkb_pull_plan *plan,
                                const char *root, struct tkb_error *err);

#endif
