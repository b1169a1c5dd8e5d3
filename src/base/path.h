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

/* Open it, in an open root or one at a path; -1 and errno if it is no folder. */
int tkb_own_folder_open(int root_fd);
int tkb_own_folder_open_at(const char *root);

/*
 * May `name` be the name of a file in a bundle? UTF-8, no control characters,
 * no slash, not "." or "..", at most 255 bytes, not empty.
 */
bool tkb_name_is_valid(struct tkb_bytes name);

/*
 * Append `path` made absolute: the working directory before a relative one;
 * no link is resolved. Empty and "." components and slashes at the end go.
 */
TKB_NODISCARD int tkb_path_absolute(const char *path, struct tkb_buf *out,
                                    struct tkb_error *err);

/* What is behind the last slash of `path`: all of it if there is none. */
const char *tkb_path_base_name(const char *path);

/* The length of what is before the last slash; 0 if there is none. */
size_t tkb_path_parent_length(const char *path);

/* Is it a folder, or a link to one? */
bool tkb_path_is_folder(const char *path);

/* Is it a file that may be executed? */
bool tkb_path_is_program(const char *path);

/*
 * Make the folder `path` and those above it, as mkdir -p does. Each takes owner,
 * group and mode from its parent: see base/share.h.
 */
TKB_NODISCARD int tkb_path_make_folders(const char *path,
                                        struct tkb_error *err);

#endif
