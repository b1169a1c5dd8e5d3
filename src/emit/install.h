/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_INSTALL_H
#define TKB_EMIT_INSTALL_H

/*
 * Let an entry appear: stage it where nobody looks, then move it into place.
 *
 * A folder that does not exist yet appears by one rename, which never replaces
 * anything. One that exists is filled as Triton itself would: the group file
 * goes first and comes last, and every other file is renamed over what is
 * there, so that a reader finds a whole entry or none, and a compiler that
 * writes there meanwhile gets no error. No folder is ever moved or replaced.
 */

#include "emit/entry_state.h"
#include "emit/stage.h"

/* One entry on its way to one root. */
struct tkb_install {
	struct tkb_stage *stage;
	const struct tkb_entry *entry;
	size_t number; /* names it in the stage */
};

/*
 * Write the entry's `files`, with paths restored, into the stage. Files that
 * are the same for every root are linked from `twin`, a stage that has this
 * entry already (under `twin_number`), where that can be done.
 */
TKB_NODISCARD int tkb_install_stage(const struct tkb_install *install,
                                    struct tkb_loader *loader,
                                    const struct tkb_bytes *files,
                                    const struct tkb_install *twin,
                                    uint64_t *written_out,
                                    struct tkb_error *err);

/*
 * Move the staged entry into place. `*outcome` is TKB_OUTCOME_EMITTED, TKB_OUTCOME_PRESENT
 * (somebody else was first), TKB_OUTCOME_REPAIRED or TKB_OUTCOME_SKIPPED (busy).
 */
TKB_NODISCARD int tkb_install_publish(const struct tkb_install *install,
                                      struct tkb_loader *loader,
                                      enum tkb_entry_state state,
                                      enum tkb_outcome *outcome,
                                      struct tkb_error *err);

/* Let the group file of an entry that was moved name where it lies now. */
TKB_NODISCARD int tkb_install_relocate_group(const struct tkb_install *install,
                                             struct tkb_loader *loader,
                                             struct tkb_error *err);

#endif
