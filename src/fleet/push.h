/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_H
#define TKB_FLEET_PUSH_H

/* What those share that bring a bundle into a ref. */

#include <tkbundle/fleet.h>

#include "remote/remote.h"

/*
 * The bundle in `buffer`, which has `entry_count` entries and is verified, becomes
 * part of the ref, and the ref is compacted. What the ref has already, byte for
 * byte, is not uploaded. Adds to `report`.
 */
TKB_NODISCARD int tkb_push_whole(struct tkb_remote *remote, const char *ref,
                                 struct tkb_blob_buffer *buffer,
                                 uint64_t entry_count,
                                 const struct tkb_push_options *options,
                                 struct tkb_push_report *report,
                                 struct tkb_error *err);

#endif
