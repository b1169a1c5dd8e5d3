/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_REMOVE_H
#define TKB_EMIT_REMOVE_H

/*
 * Let an entry go, while others read and write the cache.
 *
 *   tkb_remove_check()  may it go, or is somebody at work on it?
 *   tkb_remove_hide()   unlinks the group file: from now on it is a miss;
 *   tkb_remove_rest()   removes its other files and the folder, a while later,
 *                       when nobody reads any more what the group file listed.
 *
 * Each removes only what was there when the entry was scanned: what a compiler
 * has put in its place meanwhile stays. Between the last two the folder is what
 * a compile that was stopped leaves; so is it where they are cut short.
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

/* Check, and hide, in the lock of the entry's root. Returns as check does. */
TKB_NODISCARD int tkb_remove_hide(struct tkb_stage *stage,
                                  struct tkb_loader *loader,
                                  const struct tkb_scanned_entry *found,
                                  struct tkb_error *err);

/* In the lock, too. Returns 0 or a failure, as check does. */
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
