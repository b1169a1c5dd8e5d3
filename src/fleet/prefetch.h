/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PREFETCH_H
#define TKB_FLEET_PREFETCH_H

/*
 * Fetches blobs, several at once, in order:
 *
 *     rc = tkb_prefetch_open(&request, &prefetch, err);
 *     for (size_t i = 0; i < count && rc >= 0; i++) {
 *             source = tkb_prefetch_source(prefetch, i);   and read from it
 *             rc = tkb_prefetch_await(prefetch, i, err);   now it is complete
 *             tkb_prefetch_drop(prefetch, i);
 *     }
 *     tkb_prefetch_close(prefetch);
 *
 * While the caller works, one thread per connection fetches, each with a remote
 * handle of its own, or, if that cannot connect, with the caller's in turn. At most
 * that many blobs are fetched ahead. The remote's watch can cancel all threads. Bytes
 * that were read are verified only once tkb_prefetch_await() has returned 0.
 */

#include "records/record.h"
#include "format/merge_plan.h"
#include "remote/remote.h"

struct tkb_prefetch;

/* A blob, as a record names it: a longer one is damaged. */
struct tkb_prefetch_blob {
	struct tkb_digest digest;
	uint64_t size;
};

struct tkb_prefetch_start {
	struct tkb_remote *remote; /* a thread uses it until close */
	const struct tkb_prefetch_blob *blobs; /* not copied */
	size_t count;
	size_t connections;
	bool keeps_all; /* the caller drops nothing: do not wait for room */
};

TKB_NODISCARD int tkb_prefetch_open(const struct tkb_prefetch_start *request,
                                    struct tkb_prefetch **out,
                                    struct tkb_error *err);

/* End fetches that are not done. NULL is allowed. */
void tkb_prefetch_close(struct tkb_prefetch *prefetch);

/* A source for blob `index`. It waits for bytes that have not arrived yet. */
struct tkb_source tkb_prefetch_source(struct tkb_prefetch *prefetch,
                                      size_t index);

/*
 * Wait until blob `index` is complete and verified. Returns 0, TKB_MISS, or
 * what tkb_remote_get() does.
 */
TKB_NODISCARD int tkb_prefetch_await(struct tkb_prefetch *prefetch,
                                     size_t index, struct tkb_error *err);

/* Release blob `index`, to make room for another. */
void tkb_prefetch_drop(struct tkb_prefetch *prefetch, size_t index);

/*
 * The bundles of several records, fetched completely and opened. A zeroed
 * struct is empty.
 */
struct tkb_gathering {
	struct tkb_prefetch *prefetch;     /* owned */
	struct tkb_prefetch_blob *blobs;   /* owned */
	struct tkb_bundle **bundles;       /* owned, with the bundles */
	const struct tkb_record **records; /* owned; the record of each
	                                      bundle */
	size_t count;
};

/*
 * Fetch and open the bundles of `count` records. A bundle that is gone is left
 * out; with `skips_damaged`, so is one that is damaged or too large.
 */
TKB_NODISCARD int tkb_gather(struct tkb_gathering *gathering,
                             struct tkb_remote *remote,
                             const struct tkb_record *records, size_t count,
                             size_t connections, bool skips_damaged,
                             struct tkb_error *err);

/* Merge the bundles; of a unit's versions, the newest is taken. */
TKB_NODISCARD int tkb_gathering_merge(const struct tkb_gathering *gathering,
                                      const struct tkb_merge_options *options,
                                      const struct tkb_sink *sink,
                                      struct tkb_error *err);

void tkb_gathering_close(struct tkb_gathering *gathering);

#endif
