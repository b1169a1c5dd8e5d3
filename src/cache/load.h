/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_LOAD_H
#define TKB_CACHE_LOAD_H

/*
 * The parts of tkb_scanned_entry_load(): load.c decides which kind of entry a
 * folder holds, load_kernel.c reads a kernel, load_unit.c a unit, and
 * load_files.c lists and reads the files of any kind.
 */

#include "cache/folder.h"
#include "cache/scanned_entry.h"
#include "cache/scrub.h"
#include "tree/unit.h"

/* Load the kernel in `folder`, which has exactly one group file. */
TKB_NODISCARD int tkb_load_kernel(struct tkb_loader *loader,
                                  const struct tkb_folder *folder,
                                  struct tkb_scanned_entry *found,
                                  struct tkb_error *err);

/* Load the unit at `place` of `root`; see tkb_scanned_entry_load(). */
TKB_NODISCARD int tkb_load_unit(struct tkb_loader *loader,
                                const struct tkb_root *root,
                                const struct tkb_unit_place *place,
                                struct tkb_scanned_entry *out,
                                struct tkb_error *err);

/*
 * Append a record of what ninja built in `dir_fd`, which is `folder` of `root`:
 * see tkb_ninja_record_make().
 */
TKB_NODISCARD int tkb_load_make_record(struct tkb_loader *loader,
                                       const struct tkb_root *root,
                                       const char *folder, int dir_fd,
                                       struct tkb_buf *out, bool *is_fresh_out,
                                       struct tkb_error *why,
                                       struct tkb_error *err);

/* Set the platform of a tuned unit: this machine's GPU, if it is known. */
TKB_NODISCARD int tkb_load_tuned(struct tkb_loader *loader,
                                 struct tkb_scanned_entry *found,
                                 struct tkb_error *err);

/*
 * Check that a unit's file, by its ends, is whole. A compiler that failed may
 * leave device code that no GPU loads, and a power failure half a file. Such
 * files stay on their machine until somebody removes them, but must not reach
 * others.
 */
TKB_NODISCARD int tkb_load_check_ends(const struct tkb_root *root,
                                      const char *name,
                                      const struct tkb_fd_ends *ends,
                                      struct tkb_error *err);

/* Note the size and stamp of a file that is packed unchanged. */
TKB_NODISCARD int tkb_load_stat_file(int dir_fd,
                                     struct tkb_scanned_entry *found,
                                     size_t index, struct tkb_error *err);

/* Make room for `count` files of `found`. */
TKB_NODISCARD int tkb_load_alloc_files(struct tkb_loader *loader,
                                       struct tkb_scanned_entry *found,
                                       size_t count, struct tkb_error *err);

/* Append a file to the list; `name` is kept by reference. */
void tkb_load_add_file(struct tkb_scanned_entry *found, const char *name);

/* Sort the list in the order that files have in a bundle. */
void tkb_load_sort_files(struct tkb_scanned_entry *found);

/* Check that a manifest can contain `name`; if not, the reason is "name". */
TKB_NODISCARD int tkb_load_check_name(const char *name, struct tkb_error *err);

/* Name the entry after its group file, module or autotune file. */
TKB_NODISCARD int tkb_load_name_entry(struct tkb_loader *loader,
                                      struct tkb_scanned_entry *found,
                                      const char *file_name,
                                      struct tkb_error *err);

/* Read file `index` into the loader's scratch buffer, and note its stamp. */
TKB_NODISCARD int tkb_load_read_file(struct tkb_loader *loader, int dir_fd,
                                     struct tkb_scanned_entry *found,
                                     size_t index, struct tkb_error *err);

/* Keep `bytes` and their digest as the contents of file `index` in a bundle. */
TKB_NODISCARD int tkb_load_keep_bytes(struct tkb_loader *loader,
                                      struct tkb_scanned_entry *found,
                                      size_t index, struct tkb_bytes bytes,
                                      struct tkb_error *err);

/*
 * Read, scrub and hash the listed JSON files, and stat the others. `group` is
 * the group file, which had the stamp `group_stamp` when it was read; both are
 * NULL if the entry has none.
 */
TKB_NODISCARD int tkb_load_files(struct tkb_loader *loader,
                                 const struct tkb_folder *folder,
                                 struct tkb_scanned_entry *found,
                                 const struct tkb_group *group,
                                 const struct tkb_stamp *group_stamp,
                                 struct tkb_error *err);

#endif
