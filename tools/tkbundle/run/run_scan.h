/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_SCAN_H
#define TKBUNDLE_RUN_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <tkbundle/tree.h>

#include "run/run.h"

/*
 * List entries by names and times alone. No file is read, so no entry is marked
 * as used.
 */

/* Is there a folder triton/N below `root`? */
bool run_scan_is_inductor(const char *root);

/* Visit each folder of keys: `root` itself, or <root>/triton/<N>. */
void run_scan_roots(const char *root, bool is_inductor,
                    void (*visit)(void *self, const char *path), void *self);

/*
 * Visit each folder below the folder of keys `path`.
 *
 * @param visit  gets a descriptor of `path`, and the key
 */
void run_scan_keys(const char *path,
                   void (*visit)(void *self, int root_fd, const char *path,
                                 const char *key),
                   void *self);

/*
 * Stat the file that publishes the entry `key`: the group file, else the module
 * or autotune file.
 *
 * @return whether there is one
 */
bool run_scan_stamp(int root_fd, const char *key, struct stat *out);

/* Since 1970, as all times of files are compared. */
int64_t run_scan_time_ns(const struct timespec *time);

struct run_scan_unit {
	size_t size;   /* length of the unit's path in the file's path */
	bool is_tuned; /* the file may change without any compiling */
	bool is_named_by_content; /* a file that is written again is the same */
};

/* A name that was listed: of a kernel, of a unit, or of a file of a unit. */
struct run_name {
	const char *path;
	int64_t stamp; /* of the file then; negative: a push may have left it
	                  out, since it had just changed; 0: not known */
};

/*
 * A number that changes when a file of the unit is written or replaced, and not
 * when it gets another owner or mode, or one more name. If it is named after
 * its content, the number changes only with its size. It is positive.
 */
int64_t run_scan_file_stamp(const struct run_scan_unit *unit,
                            const struct stat *status);

/* The same for a kernel, of what run_scan_stamp() gives. */
int64_t run_scan_key_stamp(const struct stat *status);

/* Keep a name in run_shared.names, or set is_full if there is no room. */
void run_scan_keep(struct run_shared *shared, const struct run_name *name);

/*
 * Take the name at the offset `at` of run_shared.names, and move `at` to the
 * next one. A file that has changed is there again; the later one counts.
 *
 * @return false: there are no more
 */
bool run_scan_next(const struct run_shared *shared, size_t *at,
                   struct run_name *out);

/* Functions that are called for each thing found in a tree. */
struct run_tree_visitor {
	void *self;
	/* A file, and its unit. The files of a unit come one after another. */
	void (*file)(void *self, const char *path,
	             const struct run_scan_unit *unit,
	             const struct stat *status);
	void (*kernels)(void *self, const char *path); /* a folder of keys */
};

/*
 * Visit all files of a tree except those that its rules leave out. Links are
 * not followed.
 */
void run_scan_tree(const struct tkb_tree *tree,
                   const struct run_tree_visitor *visitor);

#endif
