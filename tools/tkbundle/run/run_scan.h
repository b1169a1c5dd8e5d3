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

/* Each file of a tree, but for those that its rules leave. No link is followed. */
void run_scan_tree(const struct tkb_tree *tree,
                   void (*visit)(void *self, const char *path), void *self);

#endif
