/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_ENTRY_STATE_H
#define TKB_EMIT_ENTRY_STATE_H

/*
 * What stands where an entry of a bundle is to go?
 *
 * What is there and exactly as the bundle says costs a few microseconds: the
 * group file is read and compared, of the other files the sizes. Anything else
 * is looked at closely: another compile of the same kernel is as good.
 */

#include "cache/scanned_entry.h"

enum tkb_entry_state {
	TKB_ENTRY_STATE_ABSENT,  /* nothing */
	TKB_ENTRY_STATE_PRESENT, /* a whole entry */
	TKB_ENTRY_STATE_MOVED, /* a whole entry, whose group file names another
	                      place */
	TKB_ENTRY_STATE_BUSY, /* no whole entry, and somebody writes there now */
	TKB_ENTRY_STATE_BROKEN, /* a folder, but no whole entry */
	TKB_ENTRY_STATE_UNSAFE  /* no folder */
};

/*
 * Look at where `entry` goes in `root`. Unless `is_trusted`, every byte of what
 * is there is read and compared: it may be what a power failure left.
 */
TKB_NODISCARD int tkb_entry_state_look(struct tkb_loader *loader,
                                       const struct tkb_root *root,
                                       const struct tkb_entry *entry,
                                       bool is_trusted,
                                       enum tkb_entry_state *out,
                                       struct tkb_error *err);

/*
 * The close look alone, for those who know an entry by its key and kind, and
 * not yet what it holds: a whole entry is present whatever its bytes. Nothing
 * is told of what is absent or no folder: both are no whole entry.
 */
TKB_NODISCARD int tkb_entry_state_inspect(struct tkb_loader *loader,
                                          const struct tkb_root *root,
                                          const char *key, enum tkb_kind kind,
                                          bool is_trusted,
                                          enum tkb_entry_state *out,
                                          struct tkb_error *err);

/*
 * Is there, in folder `key`, a temporary folder of a Triton at work? A folder
 * that cannot be listed is a failure, not an answer.
 */
TKB_NODISCARD int tkb_entry_state_has_writer(const struct tkb_root *root,
                                             const char *key, bool *out,
                                             struct tkb_error *err);

#endif
