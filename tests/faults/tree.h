/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULTS_TREE_H
#define TKB_TESTS_FAULTS_TREE_H

/*
 * A folder held in memory: written in no time, as often as it is needed, and
 * held against what lies on disk. None of its memory is the test's, which grows in
 * children of it.
 */

#include <stdbool.h>
#include <stddef.h>

/* A file, or a folder, by its path below the tree's own folder. */
struct tree_item {
	char *path;
	void *data; /* NULL: it is a folder */
	size_t size;
};

struct tree {
	struct tree_item *items; /* sorted by path: a folder before its files */
	size_t count;
};

/* Read `folder`; of one that is not there, the tree is empty. */
struct tree tree_read(const char *folder);
void tree_release(struct tree *tree);

/* Make `folder` what the tree is; what was there goes. */
void tree_write(const struct tree *tree, const char *folder);

/* Make an empty folder; what was there goes. */
void tree_make_folder(const char *path);

/* Remove what stands at `path`, if anything does. */
void tree_remove(const char *path);

/* Does folder `below` hold the same in both, byte for byte? */
bool tree_equal_below(const struct tree *a, const struct tree *b,
                      const char *below);

/* The item at `path`; NULL if there is none. */
const struct tree_item *tree_find(const struct tree *tree, const char *path);

#endif
