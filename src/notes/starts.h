/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NOTES_STARTS_H
#define TKB_NOTES_STARTS_H

/* Remove reports of starts: see tkbundle/starts.h. */

#include <tkbundle/starts.h>

#include "base/base.h"

/*
 * Drop the reports of all refs that are too old or too many. With `is_dry_run`,
 * only count them.
 */
TKB_NODISCARD int tkb_starts_prune(struct tkb_remote *remote, bool is_dry_run,
                                   uint64_t *dropped_out,
                                   struct tkb_error *err);

/* Drop all reports of `ref`. */
TKB_NODISCARD int tkb_starts_drop(struct tkb_remote *remote, const char *ref,
                                  struct tkb_error *err);

#endif
