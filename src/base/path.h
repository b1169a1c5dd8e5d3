/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_PATH_H
#define TKB_BASE_PATH_H

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_NAME_LIMIT = 255
};

/* tkbundle's own folder in a root: locks, stages, marks. */
#define TKB_OWN_FOLDER ".tkbundle"

/* Open that folder in an open root; -1 and errno if it is not a folder. */
int tkb_own_folder_open(int root_fd);
int tkb_own_folder_open_at(const char *root);

/*
 * May `name` be the name of a file in a bundle? It must be UTF-8 of 1 to 255
 * bytes, without control characters or slashes, and not "." or "..".
 */
bool tkb_name_is_valid(struct tkb_bytes name);

/* Is it "." or "..", which each folder lists? */
bool tkb_name_is_dots(const char *name);

/* Does it end with `ending`, after something else? */
bool tkb_name_ends_with(const char *name, const char *ending);

/*
 * Append `path` as an absolute path: a relative one is put behind the working
 * directory. No link is resolved. Empty and "." components and slashes at the
 * end are dropped.
 */
TKB_NODISCARD int tkb_path_absolute(const char *path, struct tkb_buf *out,
                                    struct tkb_error *err);

/* The part of `path` after the last slash; all of it if there is no slash. */
const char *tkb_path_base_name(const char *path);

/* The length of the part before the last slash; 0 if there is no slash. */
size_t tkb_path_parent_length(const char *path);

/* Do `a` and `b` begin with the same folder? */
bool tkb_path_has_same_parent(const char *a, const char *b);

/* Is `path` a folder, or a link to one? */
bool tkb_path_is_folder(const char *path);

/* Is `path` a file that may be executed? */
bool tkb_path_is_program(const char *path);

/*
 * Make the folder `path` and its missing parents, as mkdir -p does. Each new
 * folder takes owner, group and mode from its parent: see base/share.h.
 */
TKB_NODISCARD int tkb_path_make_folders(const char *path,
                                        struct tkb_error *err);

#endif
