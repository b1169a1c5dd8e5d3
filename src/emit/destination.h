/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_DESTINATION_H
#define TKB_EMIT_DESTINATION_H

/*
 * Put an entry into a cache root: write it into the root's stage, where nobody
 * looks, and then commit it.
 *
 * A new folder appears by one rename, which never replaces anything. An
 * existing folder is filled as Triton would fill it: the group file is removed
 * first and returns last, and each other file replaces the old one by a rename.
 * So a reader finds a whole entry or none, and a compiler that writes to the
 * folder at the same time gets no error. No existing folder is ever moved or
 * replaced.
 */

#include "emit/inspect.h"
#include "emit/stage.h"

/* Where an entry goes: to a root, through the root's stage. */
struct tkb_destination {
	struct tkb_stage *stage;
	const struct tkb_entry *entry;
	/* The name in the stage of the entry's folder, or of the folder that
	   it shares with its siblings; see unit.h. */
	size_t number;
	bool has_siblings;
};

/*
 * Write the entry's `files`, with paths restored, into the stage. `written` is
 * the same entry, already written for another root, or NULL. Files without
 * paths are hard-linked from there, where possible.
 */
TKB_NODISCARD int tkb_destination_write(const struct tkb_destination *to,
                                        struct tkb_loader *loader,
                                        const struct tkb_bytes *files,
                                        const struct tkb_destination *written,
                                        uint64_t *size_out,
                                        struct tkb_error *err);

/*
 * Write an entry that a scan found in another root. Files without paths are
 * hard-linked from there, where possible. If a file changed since the scan, the
 * failure has the reason "busy".
 */
TKB_NODISCARD int tkb_destination_link(const struct tkb_destination *to,
                                       struct tkb_loader *loader,
                                       const struct tkb_scanned_entry *found,
                                       struct tkb_error *err);

/*
 * Move the written entry into place. `state` is what the inspection of its
 * folder found. `*outcome` is TKB_OUTCOME_EMITTED, TKB_OUTCOME_PRESENT (another
 * process was faster), TKB_OUTCOME_REPAIRED or TKB_OUTCOME_SKIPPED (busy).
 */
TKB_NODISCARD int tkb_destination_commit(const struct tkb_destination *to,
                                         struct tkb_loader *loader,
                                         enum tkb_entry_state state,
                                         enum tkb_outcome *outcome,
                                         struct tkb_error *err);

/*
 * Replace the group file of a moved entry by one with the entry's present path.
 * If a gc has removed the group file meanwhile, it is not written again, and
 * the failure has the reason "missing".
 */
TKB_NODISCARD int tkb_destination_relocate(const struct tkb_destination *to,
                                           struct tkb_loader *loader,
                                           struct tkb_error *err);

/* Open the folder of the written entry in its stage; -1 on failure. */
int tkb_destination_open_written(const struct tkb_destination *to);

/* Report the failure to write `name` (errno). */
int tkb_destination_fail(const struct tkb_destination *to, const char *name,
                         struct tkb_error *err);

#endif
