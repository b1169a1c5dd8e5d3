/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PULL_H
#define TKB_FLEET_PULL_H

/* Functions shared by all kinds of pulls. */

#include <tkbundle/fleet.h>

#include "cache/watch.h"
#include "records/records.h"

/*
 * Read the records of `ref`, those with many entries first, and count them in
 * `report`. TKB_MISS if there is none.
 */
TKB_NODISCARD int tkb_pull_records(struct tkb_remote *remote, const char *ref,
                                   struct tkb_record_list *out,
                                   struct tkb_pull_report *report,
                                   struct tkb_error *err);

/*
 * Copy a caller's options and what they point to, and start the deadline. `out`
 * points to `emit`, which uses the watch of `timed` and has no deadline of its
 * own. Also checks the report (may be NULL) that will be filled.
 */
TKB_NODISCARD int tkb_pull_options_read(struct tkb_pull_options *out,
                                        struct tkb_emit_options *emit,
                                        struct tkb_timed *timed,
                                        const struct tkb_pull_options *given,
                                        const struct tkb_pull_report *report,
                                        struct tkb_error *err);

/* The first damaged record, else the first unreadable one, else NULL. */
const struct tkb_record_fault *tkb_pull_fault(
	const struct tkb_record_list *list);

/*
 * If `first` is still empty, set it to the error that a blob of `ref` is gone.
 */
void tkb_pull_note_gone(struct tkb_error *first, const char *ref);

/* How many blobs to fetch at once. */
size_t tkb_pull_connections(const struct tkb_pull_options *options);

#endif
