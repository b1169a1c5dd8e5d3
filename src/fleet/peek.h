/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PEEK_H
#define TKB_FLEET_PEEK_H

/* Reads only the start of a blob: the manifest of its bundle. */

#include "format/reader.h"
#include "records/record.h"
#include "remote/remote.h"

/*
 * Open the bundle of `record` with only its manifest; entries cannot be read.
 * The caller closes it. Returns 0, TKB_MISS, TKB_ERR_CORRUPT, or what
 * tkb_remote_get() does.
 */
TKB_NODISCARD int tkb_remote_peek(struct tkb_remote *remote,
                                  const struct tkb_record *record,
                                  struct tkb_bundle **out,
                                  struct tkb_error *err);

#endif
