/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_REMOVE_H
#define TKB_EMIT_REMOVE_H

/*
 * Remove an entry while others read and write the cache.
 *
 *   tkb_remove_check()  checks that nobody is writing to the entry;
 *   tkb_remove_hide()   unlinks the group file, so that the entry is a miss;
 *   tkb_remove_rest()   removes the other files and the folder. It is called a
 *                       while later, when no process uses the group file.
 *
 * Each removes only files that existed when the entry was scanned, and not what
 * a compiler has written since. Between the last two steps, or if they are
 * interrupted, the folder looks as if a compile had been stopped.
 */

#include "cache/scanned_entry.h"
#include "emit/stage.h"

/*
 * Returns 0; TKB_MISS (the entry is gone); TKB_ERR_NOMEM; or a failure, which
 * has the reason "busy" if somebody is writing to the entry.
 */
TKB_NODISCARD int tkb_remove_check(struct tkb_loader *loader,
                                   const struct tkb_scanned_entry *found,
                                   struct tkb_error *err);

/*
 * Check the entry and hide it, with the root's lock held. Returns what
 * tkb_remove_check() returns.
 */
TKB_NODISCARD int tkb_remove_hide(struct tkb_stage *stage,
                                  struct tkb_loader *loader,
                                  const struct tkb_scanned_entry *found,
                                  struct tkb_error *err);

/* Takes the root's lock too. Returns 0 or what tkb_remove_check() may. */
TKB_NODISCARD int tkb_remove_rest(struct tkb_stage *stage,
                                  const struct tkb_scanned_entry *found,
                                  struct tkb_error *err);

/*
 * In the root of `stage`, remove the folders of unfinished kernels that nobody
 * has touched for a day. They are left from an interrupted removal or compile.
 * A folder stays if it contains anything but files of one kernel. With
 * `is_dry_run`, only count the folders.
 */
TKB_NODISCARD int tkb_remove_leftovers(struct tkb_stage *stage,
                                       struct tkb_buf *names, bool is_dry_run,
                                       uint64_t *count, struct tkb_error *err);

#endif
