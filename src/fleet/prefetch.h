/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PREFETCH_H
#define TKB_FLEET_PREFETCH_H

/*
 * Fetches blobs, several at once, in order:
 *
 *     rc = tkb_prefetch_open(&request, &prefetch, err);
 *     for (size_t i = 0; i < count && rc >= 0; i++) {
 *             source = tkb_prefetch_source(prefetch, i);   and read from it
 *             rc = tkb_prefetch_await(prefetch, i, err);   it is whole
 *             tkb_prefetch_drop(prefetch, i);
 *     }
 *     tkb_prefetch_close(prefetch);
 *
 * As many threads as there are connections fetch while the caller works, each with
 * a handle of its own, and no more blobs ahead than that. The remote's watch ends
 * all of them. What was read is checked only when tkb_prefetch_await() returns 0.
 */

#include "records/record.h"
#include "format/merge_plan.h"
#include "remote/remote.h"

struct tkb_prefetch;

struct tkb_prefetch_start {
	struct tkb_remote *remote;      /* used by a thread until close */
	const struct tkb_digest *blobs; /* kept by reference */
	size_t count;
	size_t connections;
	bool keeps_all; /* nothing is dropped: do not wait for room */
};

TKB_NODISCARD int tkb_prefetch_open(const struct tkb_prefetch_start *request,
                                    struct tkb_prefetch **out,
                                    struct tkb_error *err);

/* End fetches that are not done. NULL is allowed. */
void tkb_prefetch_close(struct tkb_prefetch *prefetch);

/* Reads blob `index`, and waits for bytes that are not here yet. */
struct tkb_source tkb_prefetch_source(struct tkb_prefetch *prefetch,
                                      size_t index);

/*
 * Wait until blob `index` is here and has its digest. Returns 0, TKB_MISS, or
 * what tkb_remote_get() does.
 */
TKB_NODISCARD int tkb_prefetch_await(struct tkb_prefetch *prefetch,
                                     size_t index, struct tkb_error *err);

/* Release blob `index`, which makes room for another. */
void tkb_prefetch_drop(struct tkb_prefetch *prefetch, size_t index);

/* The bundles of records, fetched whole and opened. Zeroed it is empty. */
struct tkb_gathering {
	struct tkb_prefetch *prefetch;     /* owned */
	struct tkb_digest *blobs;          /* owned */
	struct tkb_bundle **bundles;       /* owned, and what each points to */
	const struct tkb_record **records; /* owned; of the bundles */
	size_t count;
};

/*
 * Gather those of `count` records. One that is gone is left out, and with
 * `skips_damaged` also one that is damaged or too large.
 */
TKB_NODISCARD int tkb_gather(struct tkb_gathering *gathering,
                             struct tkb_remote *remote,
                             const struct tkb_record *records, size_t count,
                             size_t connections, bool skips_damaged,
                             struct tkb_error *err);

/* Merge the bundles; of what was tuned, the newest version counts. */
TKB_NODISCARD int tkb_gathering_merge(const struct tkb_gathering *gathering,
                                      const struct tkb_merge_options *options,
                                      const struct tkb_sink *sink,
                                      struct tkb_error *err);

void tkb_gathering_close(struct tkb_gathering *gathering);

#endif
