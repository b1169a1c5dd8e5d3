/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_UNIT_H
#define TKB_EMIT_UNIT_H

/*
 * The steps of an emit for units of trees. A new unit appears by one rename, as
 * an entry does: a file, or a folder with everything in it. An existing unit
 * that is not whole is filled file by file; files that name others are removed
 * first and written last.
 *
 * Siblings (siblings.h) are written into one folder of the stage.
 */

#include "emit/destination.h"

/*
 * Open the parent folder of `path`, which is relative to `root_fd`. No part may
 * be a link. If `share` is not NULL, missing folders are made. `*name_out` is
 * the last part of `path`.
 *
 * @return a descriptor that is `root_fd` or `parent`'s, until the next call; -1
 *         and errno on failure
 */
int tkb_unit_find_parent(struct tkb_unit_parent *parent, int root_fd,
                         const struct tkb_share *share, const char *path,
                         const char **name_out);

/* As tkb_destination_write() and tkb_destination_commit(). */
TKB_NODISCARD int tkb_unit_write(const struct tkb_destination *to,
                                 struct tkb_loader *loader,
                                 const struct tkb_bytes *files,
                                 uint64_t *size_out, struct tkb_error *err);
/*
 * For a unit that ninja built. Call this between write and commit, when
 * everything that it may have been built from is committed. It compares the
 * unit's inputs with its record, and writes ninja's logs. If it fails with
 * TKB_REASON_INPUTS, the unit is useless here.
 */
TKB_NODISCARD int tkb_unit_stamp(const struct tkb_destination *to,
                                 struct tkb_loader *loader,
                                 struct tkb_error *err);

/*
 * Make a folder of the stage for `to` and siblings that are written after it.
 * Returns false, and makes nothing, if that fails.
 */
bool tkb_unit_begin_siblings(const struct tkb_destination *to,
                             struct tkb_loader *loader);

/*
 * Move the folder of `to`, which holds it and its written siblings, to the
 * place of their parent folder. Returns false if that cannot be done, as when
 * the folder exists now: commit each sibling then.
 */
bool tkb_unit_commit_siblings(const struct tkb_destination *to,
                              struct tkb_loader *loader);

TKB_NODISCARD int tkb_unit_commit(const struct tkb_destination *to,
                                  struct tkb_loader *loader,
                                  enum tkb_entry_state state,
                                  enum tkb_outcome *outcome,
                                  struct tkb_error *err);

#endif
