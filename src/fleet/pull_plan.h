/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PULL_PLAN_H
#define TKB_FLEET_PULL_PLAN_H

/*
 * What a puller wants of a ref: each place (a key, at one device) that its
 * options let pass, whether a whole entry stands there, and which records
 * bring what is missing.
 *
 *     rc = tkb_pull_plan_open(&order, &wanted, err);
 *     rc = tkb_pull_plan_look(wanted, err);        what is there now?
 *     rc = tkb_pull_plan_doubt(wanted, remote, limit_ms, err);
 *                                               is it what it should be?
 *     count = tkb_pull_plan_make(wanted, chosen);  which records bring the rest?
 */

#include <tkbundle/emit.h>

#include "fleet/records.h"
#include "remote/remote.h"

struct tkb_pull_plan;

struct tkb_pull_plan_request {
	const char *cache_root;
	const struct tkb_emit_options *options; /* kept by reference; its keys
	                                           are whole */
	const struct tkb_record_list *records;  /* likewise; the first record
	                                           that brings something is
	                                           chosen */
};

TKB_NODISCARD int tkb_pull_plan_open(const struct tkb_pull_plan_request *order,
                                     struct tkb_pull_plan **out,
                                     struct tkb_error *err);
void tkb_pull_plan_close(struct tkb_pull_plan *wanted);

/* The layout that all bundles of the ref go to: not TKB_LAYOUT_AUTO. */
enum tkb_layout tkb_pull_plan_layout(const struct tkb_pull_plan *wanted);

TKB_NODISCARD int tkb_pull_plan_look(struct tkb_pull_plan *wanted,
                                     struct tkb_error *err);

/*
 * Hold the bytes of what is present, and was not written or verified here since
 * boot, against what the records' bundles say of them, as an emit does: what
 * differs is not present. Of each bundle only the manifest is read; where it
 * cannot be had, what looks whole stays present. After `limit_ms`, or where
 * the remote's watch says so, it ends with TKB_ERR_CANCELLED: what it did not
 * come to stays present, too.
 */
TKB_NODISCARD int tkb_pull_plan_doubt(struct tkb_pull_plan *wanted,
                                      struct tkb_remote *remote,
                                      uint32_t limit_ms, struct tkb_error *err);

/* A record that is to be fetched. */
struct tkb_choice {
	size_t record;
	size_t place_count;   /* that it fills */
	size_t missing_count; /* of those, and no earlier one brings them */
};

/*
 * Choose records, each at most once in the life of `wanted`; `out` has room for
 * all. How many?
 */
size_t tkb_pull_plan_make(struct tkb_pull_plan *wanted, struct tkb_choice *out);

/*
 * Remove what dead emits left in the roots that are there: where all is there,
 * no emit comes that would.
 */
void tkb_pull_plan_clean(const struct tkb_pull_plan *wanted);

/* How many places had a whole entry when they were looked at last? */
size_t tkb_pull_plan_present(const struct tkb_pull_plan *wanted);

/* Does the record hold anything that is wanted, here or not? */
bool tkb_pull_plan_uses(const struct tkb_pull_plan *wanted, size_t record);

#endif
