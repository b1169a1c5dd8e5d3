/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_GC_H
#define TKB_FLEET_GC_H

/*
 * How a gc of a remote goes.
 *
 * First, drop records that are too old or have no blob, and compact refs of many
 * records. Then, in each tier, remove blobs that no record names and that are
 * older than the grace time: a younger one may belong to a push that has not
 * added its record yet. Last, while a tier is too large, drop the records that
 * were not used for longest, with their blobs.
 *
 * All refs are read before anything is changed: if a record cannot be read, its
 * blob is not known, and nothing may be removed.
 */

#include <tkbundle/fleet.h>

#include "base/digest.h"
#include "cache/watch.h"
#include "remote/remote.h"

/* A record that stays. */
struct tkb_gc_item {
	const char *ref; /* one of the names below */
	struct tkb_digest digest;
	struct tkb_digest blob;
	uint64_t age_s;
};

/* A blob of the tier that is cleaned. */
struct tkb_gc_blob {
	struct tkb_digest digest;
	uint64_t size;
	uint64_t age_s;
};

struct tkb_remote_gc {
	struct tkb_remote *remote;
	const struct tkb_remote_gc_options *options;
	struct tkb_ref_names refs;
	struct tkb_ref_names
		signed_refs;       /* that have signatures, as "@signed/..." */
	struct tkb_gc_item *items; /* owned; when evicting, the oldest first */
	size_t item_count;
	size_t item_capacity;
	/*
	 * Blobs of records that were just compacted: somebody who read them
	 * before may be fetching them.
	 */
	struct tkb_digests compacted;
	bool has_lost_name;        /* a damaged record: its blob is not known */
	struct tkb_error fault;    /* of the first record that cannot be read */
	struct tkb_error refusal;  /* the first refusal to delete */
	struct tkb_gc_blob *blobs; /* owned; by digest */
	size_t blob_count;
	size_t blob_capacity;
	uint64_t steps_done; /* refs, each twice, and blobs */
	uint64_t steps;      /* how many are known so far */
	struct tkb_remote_gc_report report;
};

/* Drop records: the first part (gc_records.c). What stays is in `items` then. */
TKB_NODISCARD int tkb_remote_gc_records(struct tkb_remote_gc *gc,
                                        struct tkb_error *err);

/*
 * Remove blobs, and the records of those that are evicted, in all tiers that may be
 * written; TKB_ERR_DENIED if there is none (gc_blobs.c).
 */
TKB_NODISCARD int tkb_remote_gc_blobs(struct tkb_remote_gc *gc,
                                      struct tkb_error *err);

/*
 * For both parts: report what is removed, of a record with its ref; drop a record
 * (in a dry run only report it); count a step of the progress; and how old a thing
 * must be that nothing names.
 */
void tkb_remote_gc_report_removed(const struct tkb_remote_gc *gc,
                                  const char *ref,
                                  const struct tkb_digest *digest,
                                  uint64_t size);
TKB_NODISCARD int tkb_remote_gc_drop(struct tkb_remote_gc *gc, const char *ref,
                                     const struct tkb_digest *digest,
                                     uint64_t size, bool *is_refused,
                                     struct tkb_error *err);

/*
 * If `rc` and `why` say that the remote refuses to delete this, report and count
 * it, and return 0, so that the gc goes on; else return `rc`. `*is_refused`
 * tells which.
 */
TKB_NODISCARD int tkb_remote_gc_note_refusal(struct tkb_remote_gc *gc, int rc,
                                             const char *ref,
                                             const struct tkb_digest *digest,
                                             const struct tkb_error *why,
                                             bool *is_refused,
                                             struct tkb_error *err);
void tkb_remote_gc_count_step(struct tkb_remote_gc *gc);
uint64_t tkb_remote_gc_grace(const struct tkb_remote_gc *gc);

#endif
