/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_SCAN_H
#define TKBUNDLE_RUN_SCAN_H

#include <stdbool.h>
#include <sys/stat.h>

#include <tkbundle/tree.h>

/*
 * Which entries there are, by their names and times alone: nothing is read,
 * so that nothing looks used.
 */

/* Is there a folder triton/N below `root`? */
bool run_scan_is_inductor(const char *root);

/* Each folder of keys: `root` itself, or <root>/triton/<N>. */
void run_scan_roots(const char *root, bool is_inductor,
                    void (*visit)(void *self, const char *path), void *self);

/*
 * Each folder below the folder of keys `path`.
 *
 * @param visit  given a descriptor of `path`, and the key
 */
void run_scan_keys(const char *path,
                   void (*visit)(void *self, int root_fd, const char *path,
                                 const char *key),
                   void *self);

/*
 * Look at the file that publishes the entry `key`: the group file, else the
 * module or autotune file.
 *
 * @return whether there is one
 */
bool run_scan_stamp(int root_fd, const char *key, struct stat *out);

struct run_scan_unit {
	size_t size;   /* how much of a file's path is that of its unit */
	bool is_tuned; /* it may change, and is then pushed again */
};

/* Who is told of a tree. */
struct run_tree_visitor {
	void *self;
	/*
	 * A file, and the unit that it is in. The files of a unit are told of
	 * one after another.
	 */
	void (*file)(void *self, const char *path,
	             const struct run_scan_unit *unit,
	             const struct stat *status);
	void (*kernels)(void *self, const char *path); /* a folder of keys */
};

/* All of a tree but what its rules leave. No link is followed. */
void run_scan_tree(const struct tkb_tree *tree,
                   const struct run_tree_visitor *visitor);

#endif
