/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_INSPECT_H
#define TKB_EMIT_INSPECT_H

/*
 * Inspect what already exists at an entry's destination.
 *
 * A folder that is exactly what a bundle holds costs a few microseconds: its
 * group file is read and compared, of its other files the sizes. Any other
 * folder is loaded and read as a collect would: another compile of the same
 * kernel is as good.
 */

#include "cache/scanned_entry.h"

enum tkb_entry_state {
	TKB_ENTRY_STATE_ABSENT,  /* there is nothing */
	TKB_ENTRY_STATE_PRESENT, /* a whole entry */
	TKB_ENTRY_STATE_MOVED, /* whole, but its group file names another path */
	TKB_ENTRY_STATE_BUSY,  /* not whole, and a compiler is writing there */
	TKB_ENTRY_STATE_BROKEN, /* a folder, but no whole entry */
	TKB_ENTRY_STATE_UNSAFE  /* not a folder */
};

/*
 * Inspect the folder of `entry` in `root`. Unless `is_trusted`, every byte is
 * read and compared: the folder may be what a power failure left.
 */
TKB_NODISCARD int tkb_inspect_destination(struct tkb_loader *loader,
                                          const struct tkb_root *root,
                                          const struct tkb_entry *entry,
                                          bool is_trusted,
                                          enum tkb_entry_state *out,
                                          struct tkb_error *err);

/*
 * The same for a unit. A unit whose files are all there, one of them with
 * another size, is of another compile: that is somebody's own, and present. A
 * file that is missing, empty, or has the right size and other bytes makes the
 * unit broken.
 */
TKB_NODISCARD int tkb_inspect_unit(struct tkb_loader *loader,
                                   const struct tkb_root *root,
                                   const struct tkb_entry *unit,
                                   bool is_trusted, enum tkb_entry_state *out,
                                   struct tkb_error *err);

/*
 * Inspect folder `key` by a caller that does not know what the entry holds: a
 * whole entry of `kind` is present, whatever its bytes. If `is_trusted`, files
 * that no launch reads are not read. What is absent or unsafe is "broken".
 */
TKB_NODISCARD int tkb_inspect_entry(struct tkb_loader *loader,
                                    const struct tkb_root *root,
                                    const char *key, enum tkb_kind kind,
                                    bool is_trusted, enum tkb_entry_state *out,
                                    struct tkb_error *err);

/*
 * Is a compiler writing to folder `key`? A running Triton has a temporary
 * folder there. Fails if the folder cannot be listed.
 */
TKB_NODISCARD int tkb_inspect_writer(const struct tkb_root *root,
                                     const char *key, bool *has_writer_out,
                                     struct tkb_error *err);

#endif
