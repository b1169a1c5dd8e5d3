/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_INSPECT_H
#define TKB_EMIT_INSPECT_H

/*
 * Inspect what already exists at an entry's destination.
 *
 * If a folder is exactly what the bundle holds, this takes a few microseconds:
 * the group file is read and compared, and of the other files only the sizes
 * are. Any other folder is loaded and read as a collect does it: another
 * compile of the same kernel is as good.
 */

#include "cache/scanned_entry.h"

enum tkb_entry_state {
	TKB_ENTRY_STATE_ABSENT,  /* there is nothing */
	TKB_ENTRY_STATE_PRESENT, /* a whole entry */
	TKB_ENTRY_STATE_MOVED,   /* whole, but with paths of another root */
	TKB_ENTRY_STATE_BUSY,   /* not whole, and a compiler is writing there */
	TKB_ENTRY_STATE_BROKEN, /* a folder, but not a whole entry */
	TKB_ENTRY_STATE_UNSAFE  /* not a folder */
};

/*
 * Inspect the folder of `entry` in `root`. Unless `is_trusted`, read and
 * compare every byte: a power failure may have damaged the folder.
 */
TKB_NODISCARD int tkb_inspect_destination(struct tkb_loader *loader,
                                          const struct tkb_root *root,
                                          const struct tkb_entry *entry,
                                          bool is_trusted,
                                          enum tkb_entry_state *out,
                                          struct tkb_error *err);

/*
 * A destination cannot be opened, as errno tells: is there nothing, or is something
 * else in the way? Any other reason is a failure.
 */
TKB_NODISCARD int tkb_inspect_unopened(const struct tkb_root *root,
                                       const char *name,
                                       enum tkb_entry_state *out,
                                       struct tkb_error *err);

/*
 * Inspect a unit. If all its files exist and one has another size, the unit is
 * of another compile: it belongs to somebody else and is present. If a file is
 * missing or empty, or has the right size and other bytes, the unit is broken.
 */
TKB_NODISCARD int tkb_inspect_unit(struct tkb_loader *loader,
                                   const struct tkb_root *root,
                                   const struct tkb_entry *unit,
                                   bool is_trusted, enum tkb_entry_state *out,
                                   struct tkb_error *err);

/*
 * Inspect folder `key` for a caller that does not know the entry's contents:
 * any whole entry of `kind` is present. If `is_trusted`, files that no launch
 * reads are not read. An absent or unsafe entry counts as broken.
 */
TKB_NODISCARD int tkb_inspect_entry(struct tkb_loader *loader,
                                    const struct tkb_root *root,
                                    const char *key, enum tkb_kind kind,
                                    bool is_trusted, enum tkb_entry_state *out,
                                    struct tkb_error *err);

/*
 * Is a compiler writing to folder `key`? A running Triton keeps a temporary
 * folder there. Fails if the folder cannot be listed.
 */
TKB_NODISCARD int tkb_inspect_writer(const struct tkb_root *root,
                                     const char *key, bool *has_writer_out,
                                     struct tkb_error *err);

#endif
