/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_UNIT_H
#define TKB_EMIT_UNIT_H

/*
 * The steps of an emit for units of trees. A unit appears by one rename, as an
 * entry does: a folder with all that is in it, or a file. What is there and not
 * whole is filled file by file; files that name others are removed before and come
 * last.
 */

#include "emit/destination.h"

/*
 * Find the folder that `path` is in, below `root_fd`, through no link; with
 * `share`, what is missing of it is made. `*name_out` is the last part of `path`.
 *
 * @return a descriptor that is `root_fd` or `parent`'s, until the next call; -1
 *         and errno on failure
 */
int tkb_unit_find_parent(struct tkb_unit_parent *parent, int root_fd,
                         const struct tkb_share *share, const char *path,
                         const char **name_out);

/* As tkb_destination_write(), and _commit(). */
TKB_NODISCARD int tkb_unit_write(const struct tkb_destination *to,
                                 struct tkb_loader *loader,
                                 const struct tkb_bytes *files,
                                 uint64_t *size_out, struct tkb_error *err);
/*
 * For a unit that ninja built, between write and commit, once all that it may
 * have been built of is committed: compare its inputs with its record, and
 * write ninja's logs. With TKB_REASON_INPUTS the unit is useless here.
 */
TKB_NODISCARD int tkb_unit_stamp(const struct tkb_destination *to,
                                 struct tkb_loader *loader,
                                 struct tkb_error *err);

TKB_NODISCARD int tkb_unit_commit(const struct tkb_destination *to,
                                  struct tkb_loader *loader,
                                  enum tkb_entry_state state,
                                  enum tkb_outcome *outcome,
                                  struct tkb_error *err);

#endif
