/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_GC_H
#define TKB_FLEET_GC_H

/*
 * How a gc of a remote goes.
 *
 * First, drop records that are too old or have no blob, and compact refs of many
 * records. Then, in each tier, remove blobs that no record names and that are
 * older than the grace time: a younger one may belong to a push that has not
 * added its record yet. Last, while a tier is too large, remove the least recently
 * used blobs, with their records. Records are read again before that, because a
 * promotion, or a push that finds a blob, may have named it meanwhile.
 *
 * All refs are read before anything is changed: if a record cannot be read, its
 * blob is unknown, so nothing may be removed.
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
		signed_refs;       /* "@signed/..." names of signed refs */
	struct tkb_gc_item *items; /* owned; when evicting, the oldest first */
	size_t item_count;
	size_t item_capacity;
	/*
	 * Blobs of records that were just compacted: a process that has read
	 * the old records may be fetching them.
	 */
	struct tkb_digests compacted;
	bool has_lost_name;        /* a record is damaged, so its blob is
	                              unknown */
	struct tkb_error fault;    /* of the first record that cannot be read */
	struct tkb_error refusal;  /* the first refusal to delete */
	struct tkb_gc_blob *blobs; /* owned; by digest */
	size_t blob_count;
	size_t blob_capacity;
	uint64_t steps_done; /* refs (each counts twice) and blobs */
	uint64_t steps;      /* of those known so far */
	struct tkb_remote_gc_report report;
};

/*
 * The first part: drop records (gc_records.c). Afterwards `items` has the
 * records that stay.
 */
TKB_NODISCARD int tkb_remote_gc_records(struct tkb_remote_gc *gc,
                                        struct tkb_error *err);

/*
 * Read the records of all refs again, into `items`: between the first part and a
 * removal, others may have added records, or used them.
 */
TKB_NODISCARD int tkb_remote_gc_read_again(struct tkb_remote_gc *gc,
                                           struct tkb_error *err);

/*
 * The second part: remove unnamed blobs and evict records in all writable tiers
 * (gc_blobs.c). TKB_ERR_DENIED if no tier is writable.
 */
TKB_NODISCARD int tkb_remote_gc_blobs(struct tkb_remote_gc *gc,
                                      struct tkb_error *err);

/*
 * Used by both parts:
 */

/* Report a removal, for a record with its ref. */
void tkb_remote_gc_report_removed(const struct tkb_remote_gc *gc,
                                  const char *ref,
                                  const struct tkb_digest *digest,
                                  uint64_t size);

/* Drop a record, or in a dry run only report it. */
TKB_NODISCARD int tkb_remote_gc_drop(struct tkb_remote_gc *gc, const char *ref,
                                     const struct tkb_digest *digest,
                                     uint64_t size, bool *is_refused,
                                     struct tkb_error *err);

/*
 * If `rc` and `why` say that the remote refuses to delete this, report and count
 * the refusal, and return 0, so that the gc continues; else return `rc`.
 * `*is_refused` tells whether it was refused.
 */
TKB_NODISCARD int tkb_remote_gc_note_refusal(struct tkb_remote_gc *gc, int rc,
                                             const char *ref,
                                             const struct tkb_digest *digest,
                                             const struct tkb_error *why,
                                             bool *is_refused,
                                             struct tkb_error *err);

/* Count a step of the progress. */
void tkb_remote_gc_count_step(struct tkb_remote_gc *gc);

/* The age, in seconds, from which an object that no record names may go. */
uint64_t tkb_remote_gc_grace(const struct tkb_remote_gc *gc);

#endif
