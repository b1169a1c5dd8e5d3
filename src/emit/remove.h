/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_REMOVE_H
#define TKB_EMIT_REMOVE_H

/*
 * Remove an entry while others read and write the cache.
 *
 *   tkb_remove_check()  checks that nobody is working on it;
 *   tkb_remove_hide()   unlinks the group file: from now on the entry is a miss;
 *   tkb_remove_rest()   removes its other files and the folder, a while later,
 *                       when no process still goes by the group file.
 *
 * Each removes only files that were there when the entry was scanned, and not what
 * a compiler has written since. Between the last two, and if they are interrupted,
 * the folder looks like that of a compile that was stopped.
 */

#include "cache/scanned_entry.h"
#include "emit/stage.h"

/*
 * Returns 0; TKB_MISS (it is gone); TKB_ERR_NOMEM; or a failure, whose reason
 * is "busy" where somebody writes there.
 */
TKB_NODISCARD int tkb_remove_check(struct tkb_loader *loader,
                                   const struct tkb_scanned_entry *found,
                                   struct tkb_error *err);

/* Check and hide it with the root's lock held. Returns as check does. */
TKB_NODISCARD int tkb_remove_hide(struct tkb_stage *stage,
                                  struct tkb_loader *loader,
                                  const struct tkb_scanned_entry *found,
                                  struct tkb_error *err);

/* With the root's lock held, too. Returns 0 or a failure, as check does. */
TKB_NODISCARD int tkb_remove_rest(struct tkb_stage *stage,
                                  const struct tkb_scanned_entry *found,
                                  struct tkb_error *err);

/*
 * In the root of `stage`, remove the folders of kernels that are not finished and
 * that nobody has touched for a day: what is left of a removal that was cut
 * short, or of a compile. A folder with anything in it that is no file of one
 * kernel stays. With `is_dry_run` they are only counted.
 */
TKB_NODISCARD int tkb_remove_leftovers(struct tkb_stage *stage,
                                       struct tkb_buf *names, bool is_dry_run,
                                       uint64_t *count, struct tkb_error *err);

#endif
