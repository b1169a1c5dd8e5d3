/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_H
#define TKB_FLEET_PUSH_H

/* What those share that bring a bundle into a ref. */

#include <tkbundle/fleet.h>

#include "cache/watch.h"
#include "remote/remote.h"

/*
 * Copy a caller's options and what they point to, and begin its deadline:
 * `out` points to `collect`, whose watch is that of `timed` and which has no
 * deadline of its own. Checks the report (may be NULL) that is to be filled.
 */
TKB_NODISCARD int tkb_push_options_read(struct tkb_push_options *out,
                                        struct tkb_collect_options *collect,
                                        struct tkb_timed *timed,
                                        const struct tkb_push_options *given,
                                        const struct tkb_push_report *report,
                                        struct tkb_error *err);

/*
 * The bundle in `hold`, which has `entry_count` entries and is verified, becomes
 * part of the ref, and the ref is compacted. What the ref has already, byte for
 * byte, is not uploaded. Adds to `report`.
 */
TKB_NODISCARD int tkb_push_whole(struct tkb_remote *remote, const char *ref,
                                 struct tkb_blob_buffer *hold,
                                 uint64_t entry_count,
                                 const struct tkb_push_options *options,
                                 struct tkb_push_report *report,
                                 struct tkb_error *err);

#endif
