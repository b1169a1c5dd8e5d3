/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_COMPACT_H
#define TKB_FLEET_COMPACT_H

/*
 * Compaction: of many small bundles of a ref one is made, by copying frames,
 * and their records give way to its one. The new record is added first, so that
 * two that compact at once make duplicates at worst, never holes. The old blobs
 * stay for those who are fetching them; gc removes them later.
 */

#include <tkbundle/fleet.h>

#include "fleet/records.h"

enum {
	TKB_RECORDS_LIMIT = 32 /* a ref of more is compacted */
};

/*
 * Compact `ref`, whose records are `records`. How many records became fewer is
 * added to `count`. A blob that cannot be had stays as it is.
 */
TKB_NODISCARD int tkb_compact(struct tkb_remote *remote, const char *ref,
                              struct tkb_record_list *records, uint64_t *count,
                              struct tkb_error *err);

/*
 * The same where a push made more records of `before` than there should be. The
 * push is done: what fails here is left to the next, or to gc. Only memory and
 * a caller who cancels count.
 */
TKB_NODISCARD int tkb_compact_after_push(struct tkb_remote *remote,
                                         const char *ref, size_t before,
                                         struct tkb_push_report *report,
                                         struct tkb_error *err);

#endif
