/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_COMPACT_H
#define TKB_FLEET_COMPACT_H

/*
 * Compaction merges the small bundles of a ref by copying their frames, adds the
 * record of the result, then drops the old records. In this order, two
 * compactions at once cause at worst duplicates, but no loss. Old blobs stay
 * until gc removes them, because some process may be fetching them.
 */

#include <tkbundle/fleet.h>

#include "records/records.h"

enum {
	TKB_RECORDS_LIMIT = 32 /* a ref with more records is compacted */
};

/*
 * Compact `ref`, whose records are `records`. The number of records that were
 * merged is added to `count`. Records whose blob cannot be fetched stay.
 *
 * A signed record is never merged into an unsigned one. Without a `signer` (NULL),
 * signed records stay. With one, only records that it alone has signed are merged,
 * and the result is signed.
 */
TKB_NODISCARD int tkb_compact(struct tkb_remote *remote, const char *ref,
                              struct tkb_record_list *records,
                              const struct tkb_signer *signer, uint64_t *count,
                              struct tkb_error *err);

/*
 * The same, if the push of `report` has made the ref exceed the limit. The push
 * itself has succeeded, so failures are left to the next push
 * or to gc; only TKB_ERR_NOMEM and TKB_ERR_CANCELLED are returned.
 */
TKB_NODISCARD int tkb_compact_after_push(struct tkb_remote *remote,
                                         const char *ref,
                                         const struct tkb_signer *signer,
                                         struct tkb_push_report *report,
                                         struct tkb_error *err);

#endif
