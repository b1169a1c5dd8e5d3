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
#include "fleet/records.h"
#include "remote/remote.h"

struct tkb_pull_plan_request {
	const char *cache_root;
	const struct tkb_emit_options *options; /* kept by reference; its keys
	                                           are whole */
	const struct tkb_record_list *records;  /* likewise; the first record
	                                           that brings something is
	                                           chosen */
};

/* Where an entry goes. Under Triton's layout all devices are one. */
struct tkb_pull_place {
	const char *key;
	const char *tree; /* of a unit, else NULL */
	const char *name; /* likewise: its path in the tree */
	uint32_t device;
	unsigned kinds;  /* a bit for each that a record gives it */
	bool is_trusted; /* written or verified here since boot */
	bool is_bad;     /* not what its record's bundle says */
	bool is_present;
	bool is_coming; /* with a record that was chosen */
	struct tkb_version
		version; /* the newest that fits, of what was tuned */
};

struct tkb_pull_plan {
	struct tkb_pull_plan_request request;
	enum tkb_layout layout;       /* of all bundles: not TKB_LAYOUT_AUTO */
	struct tkb_roots roots;       /* those that are there; and all trees' */
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
	struct tkb_pull_place *place; /* NULL: no such place is wanted */
	size_t entry_count;           /* of those that were reached */
	const uint32_t *devices;
	size_t device_count;
	size_t next_device;
};

bool tkb_pull_walk_next(struct tkb_pull_walk *walk);

/* Is the entry an older version of what goes to `place` (may be NULL)? */
bool tkb_pull_is_old(const struct tkb_pull_place *place,
                     const struct tkb_record_entry *entry);

/*
 * Set `out`, which has room for all entries of the record, for those that are older
 * versions. Is there one?
 */
bool tkb_pull_plan_list_old(const struct tkb_pull_plan *plan,
                            const struct tkb_record *record, bool *out);

/*
 * The root of the tree called `tree`, or for NULL the one that `device` has in the
 * cache; NULL if it is not there.
 */
const struct tkb_root *tkb_pull_plan_root(const struct tkb_pull_plan *plan,
                                          const char *tree, uint32_t device);

/* Look, in pull_inspect.c, what is in the cache. */
TKB_NODISCARD int tkb_pull_plan_inspect(struct tkb_pull_plan *plan,
                                        struct tkb_error *err);

/*
 * Remove what dead emits left in the roots that are there: where all is there,
 * no emit comes that would.
 */
void tkb_pull_plan_clean(const struct tkb_pull_plan *plan);

/*
 * In pull_check.c, hold the bytes of what is present, and was not written or
 * verified here since boot, against what the records' bundles say of them, as an
 * emit does: what differs is not present. Of each bundle only the manifest is
 * read; where it cannot be had, what looks whole stays present. After `limit_ms`,
 * or where the remote's watch says so, it ends with TKB_ERR_CANCELLED: what was
 * not checked by then stays present, too.
 */
TKB_NODISCARD int tkb_pull_plan_check(struct tkb_pull_plan *plan,
                                      struct tkb_remote *remote,
                                      uint32_t limit_ms, struct tkb_error *err);

/* A record that is to be fetched. */
struct tkb_choice {
	size_t record;
	size_t place_count;   /* that it fills */
	size_t missing_count; /* of those, and no earlier one brings them */
};

/* What record `index` fills; with `marks`, its places count as coming. */
struct tkb_choice tkb_pull_plan_weigh(struct tkb_pull_plan *plan, size_t index,
                                      bool marks);

/*
 * Choose records, each at most once in the life of the plan; `out` has room for
 * all. How many?
 */
size_t tkb_pull_plan_choose(struct tkb_pull_plan *plan, struct tkb_choice *out);

/* How many places had a whole entry when they were inspected last? */
size_t tkb_pull_plan_present(const struct tkb_pull_plan *plan);

/* Does the record hold anything that is wanted, here or not? */
bool tkb_pull_plan_uses(const struct tkb_pull_plan *plan, size_t record);

#endif
