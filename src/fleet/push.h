/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_H
#define TKB_FLEET_PUSH_H

/* Shared by the functions that add a bundle to a ref. */

#include <tkbundle/fleet.h>

#include "remote/remote.h"

/*
 * Add the verified bundle in `buffer`, which has `entry_count` entries, to the
 * ref, and compact the ref. A bundle that the ref already has, byte for byte,
 * is not uploaded. Adds to `report`.
 */
TKB_NODISCARD int tkb_push_whole(struct tkb_remote *remote, const char *ref,
                                 struct tkb_blob_buffer *buffer,
                                 uint64_t entry_count,
                                 const struct tkb_push_options *options,
                                 struct tkb_push_report *report,
                                 struct tkb_error *err);

#endif
