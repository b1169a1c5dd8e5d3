/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_UNIT_H
#define TKB_TREE_UNIT_H

/*
 * Units of trees: what they may be named, the keys that they have, and where they
 * lie below a root.
 */

#include <string.h>

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/digest.h"

enum {
	TKB_UNIT_FILES_LIMIT = 4096, /* a unit */
	TKB_UNIT_PATH_LIMIT = 800,   /* bytes, from the root of the tree */
	TKB_TREE_NAME_LIMIT = 32,
	TKB_TREES_LIMIT = 64 /* a bundle */
};

/* A unit of a tree, before it is loaded. */
struct tkb_unit_place {
	const char *key;
	const char *name; /* in a bundle */
	const char *path; /* below the root; see unit_names.h */
	size_t root;      /* its index */
	bool is_file;
	/* What the rules say of its path. */
	bool is_tuned;
	bool is_ninja;
	bool is_unfinished; /* as a scan has found: there is no index, or no file */
};

/*
 * The folder that the last unit was in: the next one is most often in the same.
 * All zero: none.
 */
struct tkb_unit_parent {
	int root_fd;   /* below which it is */
	int fd;        /* -1: the folder does not exist */
	size_t length; /* of its path; 0: no folder is remembered */
	char path[TKB_UNIT_PATH_LIMIT + 1];
};

/* Forget the folder, and close it. */
void tkb_unit_parent_close(struct tkb_unit_parent *parent);

/* Is this the folder of `path`, below `root_fd`? */
bool tkb_unit_parent_holds(const struct tkb_unit_parent *parent, int root_fd,
                           const char *path);

/* Remember `fd`, which it owns from now on, as the folder of `path`. */
void tkb_unit_parent_set(struct tkb_unit_parent *parent, int root_fd, int fd,
                         const char *path);

/* 1 to 32 letters, digits, dashes and underscores, and a letter first. */
bool tkb_tree_name_is_valid(const char *name);

/*
 * Is `path` relative, of at most TKB_UNIT_PATH_LIMIT bytes, and each part a
 * valid file name other than ".tkbundle"?
 */
bool tkb_unit_path_is_valid(const char *path);

/* The key of unit `name` of `tree`: SHA-256 of both, in hexadecimal. */
TKB_NODISCARD int tkb_unit_tree_key(struct tkb_hasher *hasher, const char *tree,
                                    const char *name,
                                    char out[TKB_DIGEST_HEX_SIZE],
                                    struct tkb_error *err);

/* The record of what ninja built in the unit, or NULL where it built nothing. */
static inline const struct tkb_file *tkb_unit_record(
	const struct tkb_entry *entry)
{
	for (size_t i = 0;
	     entry->kind == TKB_KIND_UNIT && i < entry->file_count; i++) {
		if (entry->files[i].style == TKB_PATH_STYLE_BUILD)
			return &entry->files[i];
	}
	return NULL;
}

/* Is the unit a single file, without a folder? */
static inline bool tkb_unit_is_file(const struct tkb_entry *entry)
{
	return strcmp(entry->folder, ".") == 0;
}

#endif
