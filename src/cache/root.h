/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_ROOT_H
#define TKB_CACHE_ROOT_H

/*
 * The cache roots of a path: the path itself or, under Inductor, one root for
 * each device, `triton/<device>`. The roots of trees follow.
 */

#include <tkbundle/tree.h>

#include "base/base.h"
#include "base/buf.h"
#include "tree/paths.h"
#include "tree/unit_names.h"

struct tkb_root {
	char *path; /* owned; absolute; links are not resolved */
	int fd;     /* owned */
	uint32_t device;
	const struct tkb_tree *tree; /* by reference; NULL: a root of kernels */
	struct tkb_unit_names *names; /* owned; names of its units, or NULL */
};

struct tkb_roots {
	struct tkb_root *items; /* owned; sorted by device */
	size_t count;
	size_t capacity;
	bool is_inductor;
};

void tkb_roots_release(struct tkb_roots *roots);

/* Does any of the roots exist? */
bool tkb_roots_exist(const struct tkb_roots *roots);

/*
 * Open the roots that exist below `path`. Returns 0, TKB_MISS (nothing exists
 * at `path`), TKB_ERR_INVALID (not a folder), TKB_ERR_IO or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_roots_open(const char *path, struct tkb_roots *out,
                                 struct tkb_error *err);

/* What already exists at a path. */
struct tkb_probe {
	bool is_inductor; /* it has a `triton/<device>` */
	bool has_keys;    /* it has a name with the shape of a key */
};

TKB_NODISCARD int tkb_roots_probe(const char *path, struct tkb_probe *out,
                                  struct tkb_error *err);

/*
 * Append the root at `path` or, under Inductor, that of `device`. If it does
 * not exist, make it if `make` is set; otherwise its descriptor is -1.
 */
TKB_NODISCARD int tkb_root_make(const char *path, bool is_inductor,
                                uint32_t device, bool make,
                                struct tkb_roots *roots, struct tkb_error *err);

/*
 * Append the root of each tree; the trees are kept by reference. If a root does
 * not exist, make it if `make` is set; otherwise its descriptor is -1.
 * `named_out`, which the caller frees, gets the trees' names and paths, in
 * order. Returns 0, TKB_ERR_INVALID (a tree has no path, an invalid name, or
 * the name of another tree), TKB_ERR_IO or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_roots_add_trees(const struct tkb_tree *trees,
                                      size_t count, bool make,
                                      struct tkb_roots *roots,
                                      struct tkb_named_root **named_out,
                                      struct tkb_error *err);

/*
 * Append a root of kernels: the folder `below` in the root at `index`. If the
 * folder's name is a number, that is its device.
 */
TKB_NODISCARD int tkb_root_add_nested(struct tkb_roots *roots, size_t index,
                                      const char *below, struct tkb_error *err);

/*
 * The folder of an entry, relative to the root: its key, or the folder of its
 * unit here; "." if the unit is a single file.
 */
const char *tkb_root_folder(const struct tkb_root *root,
                            const struct tkb_entry *entry);

/* The root of the tree called `name`, or NULL. */
const struct tkb_root *tkb_roots_tree(const struct tkb_roots *roots,
                                      const char *name);

/* The absolute path of folder `key`, escaped as in a group file. */
TKB_NODISCARD int tkb_root_place(const struct tkb_root *root, const char *key,
                                 struct tkb_buf *out, struct tkb_error *err);

#endif
