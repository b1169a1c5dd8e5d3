/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PEEK_H
#define TKB_FLEET_PEEK_H

/* The start of a blob: what its bundle holds, without the rest. */

#include "format/reader.h"
#include "records/record.h"
#include "remote/remote.h"

/*
 * Open the bundle of `record` as far as its manifest goes; nothing else of it
 * can be read. The caller closes it. Returns 0, TKB_MISS, TKB_ERR_CORRUPT, or
 * what tkb_remote_get() does.
 */
TKB_NODISCARD int tkb_remote_peek(struct tkb_remote *remote,
                                  const struct tkb_record *record,
                                  struct tkb_bundle **out,
                                  struct tkb_error *err);

#endif
