/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_DESTINATION_H
#define TKB_EMIT_DESTINATION_H

/*
 * Let an entry appear in a cache root: write it into the root's stage, where
 * nobody looks, then commit it.
 *
 * A folder that does not exist yet appears by one rename, which never replaces
 * anything. One that exists is filled as Triton would fill it: the group file
 * is removed first and comes back last, and every other file is renamed over
 * what is there. So a reader finds a whole entry or none, and a compiler that
 * writes there at the same time gets no error. No folder is ever moved or
 * replaced.
 */

#include "emit/inspect.h"
#include "emit/stage.h"

/* Where one entry goes: a root, by way of its stage. */
struct tkb_destination {
	struct tkb_stage *stage;
	const struct tkb_entry *entry;
	size_t number; /* names the entry's folder in the stage */
};

/*
 * Write the entry's `files`, with paths restored, into the stage. Files without
 * a path are hard-linked, where possible, from `written`: the same entry,
 * already written for another root. NULL: there is none.
 */
TKB_NODISCARD int tkb_destination_write(const struct tkb_destination *to,
                                        struct tkb_loader *loader,
                                        const struct tkb_bytes *files,
                                        const struct tkb_destination *written,
                                        uint64_t *size_out,
                                        struct tkb_error *err);

/*
 * Write an entry that a scan found in another root. Files without a path are
 * hard-linked from there, where possible. A file that changed since the scan is
 * a failure with the reason "busy".
 */
TKB_NODISCARD int tkb_destination_link(const struct tkb_destination *to,
                                       struct tkb_loader *loader,
                                       const struct tkb_scanned_entry *found,
                                       struct tkb_error *err);

/*
 * Move the written entry into place, given the `state` in which its folder was
 * found. `*outcome` is TKB_OUTCOME_EMITTED, TKB_OUTCOME_PRESENT (somebody else
 * was faster), TKB_OUTCOME_REPAIRED or TKB_OUTCOME_SKIPPED (busy).
 */
TKB_NODISCARD int tkb_destination_commit(const struct tkb_destination *to,
                                         struct tkb_loader *loader,
                                         enum tkb_entry_state state,
                                         enum tkb_outcome *outcome,
                                         struct tkb_error *err);

/*
 * Replace the group file of a moved entry by one with the entry's present path.
 * If a gc has removed the group file meanwhile, it stays removed, and the
 * failure has the reason "missing".
 */
TKB_NODISCARD int tkb_destination_relocate(const struct tkb_destination *to,
                                           struct tkb_loader *loader,
                                           struct tkb_error *err);

/* The folder of the written entry in its stage, opened; or -1. */
int tkb_destination_open_written(const struct tkb_destination *to);

/* The failure to write `name` (errno). */
int tkb_destination_fail(const struct tkb_destination *to, const char *name,
                         struct tkb_error *err);

#endif
