/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_UNIT_H
#define TKB_TREE_UNIT_H

/*
 * Units of trees: which names they may have, their keys, and where they are in
 * a tree.
 */

#include <string.h>

#include <tkbundle/entry.h>
#include <tkbundle/tree.h>

#include "base/base.h"
#include "base/digest.h"

enum {
	TKB_UNIT_FILES_LIMIT = 4096, /* of a unit */
	TKB_UNIT_PATH_LIMIT = 800,   /* bytes, relative to the tree's root */
	TKB_TREE_NAME_LIMIT = 32,
	TKB_TREES_LIMIT = 64 /* of a bundle */
};

/*
 * Larger than those of kernels: nvcc makes modules of hundreds of MiB, and their
 * objects are in the same unit. A frame is decoded in memory, and a unit is never
 * split between frames.
 */
#define TKB_UNIT_FILE_SIZE_LIMIT ((uint64_t)1024 * 1024 * 1024)
#define TKB_UNIT_SIZE_LIMIT ((uint64_t)2048 * 1024 * 1024)

/* A unit of a tree, before it is loaded. */
struct tkb_unit_place {
	const char *key;
	const char *name; /* its name in a bundle */
	const char *path; /* relative to the root; see unit_names.h */
	size_t root;      /* the root's index */
	bool is_file;
	/* What the rules say about its path. */
	bool is_tuned;
	bool is_ninja;
	bool is_unfinished; /* a scan found no index, or no file */
};

/*
 * The parent folder of the last unit, because the next unit is often in the
 * same folder. All zero: none is remembered.
 */
struct tkb_unit_parent {
	int root_fd;   /* the root that contains it */
	int fd;        /* -1: the folder does not exist */
	size_t length; /* of `path`; 0: no folder is remembered */
	char path[TKB_UNIT_PATH_LIMIT + 1];
};

/* Forget the folder, and close it. */
void tkb_unit_parent_close(struct tkb_unit_parent *parent);

/* Is this the parent folder of `path`, which is relative to `root_fd`? */
bool tkb_unit_parent_holds(const struct tkb_unit_parent *parent, int root_fd,
                           const char *path);

/* Remember `fd` as the parent folder of `path`, and take ownership of it. */
void tkb_unit_parent_set(struct tkb_unit_parent *parent, int root_fd, int fd,
                         const char *path);

/*
 * Is `name` 1 to 32 letters, digits, dashes and underscores that begin with a
 * letter?
 */
bool tkb_tree_name_is_valid(const char *name);

/*
 * Is `path` relative and of at most TKB_UNIT_PATH_LIMIT bytes, and is each part
 * a valid file name other than ".tkbundle"?
 */
bool tkb_unit_path_is_valid(const char *path);

/* The key of unit `name` of `tree`: SHA-256 of both, in hexadecimal. */
TKB_NODISCARD int tkb_unit_tree_key(struct tkb_hasher *hasher, const char *tree,
                                    const char *name,
                                    char out[TKB_DIGEST_HEX_SIZE],
                                    struct tkb_error *err);

/* The record of what ninja built in the unit; NULL if ninja built nothing. */
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
