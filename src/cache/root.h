/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_ROOT_H
#define TKB_CACHE_ROOT_H

/*
 * The cache roots below a path: the path itself, or under Inductor one for
 * each device, `triton/<device>`.
 */

#include "base/base.h"
#include "base/buf.h"

/* tkbundle's own folder in a root: locks, stages, marks. */
#define TKB_ROOT_OWN_FOLDER ".tkbundle"

struct tkb_root {
	char *path; /* owned; absolute, as it was given */
	int fd;     /* owned */
	uint32_t device;
};

struct tkb_roots {
	struct tkb_root *items; /* owned; by device */
	size_t count;
	bool is_inductor;
};

void tkb_roots_release(struct tkb_roots *roots);

/*
 * Open what is there below `path`. Returns 0, TKB_MISS (nothing is),
 * TKB_ERR_INVALID (not a folder), TKB_ERR_IO or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_roots_open(const char *path, struct tkb_roots *out,
                                 struct tkb_error *err);

/* What is there already? */
struct tkb_probe {
	bool is_inductor; /* a folder `triton` with a device's folder in it */
	bool has_keys;    /* a folder that is called as a key is */
};

TKB_NODISCARD int tkb_roots_probe(const char *path, struct tkb_probe *out,
                                  struct tkb_error *err);

/*
 * Add the one at `path`; for Inductor, of `device`. What is not there is made
 * with `make`; without, its descriptor is -1.
 */
TKB_NODISCARD int tkb_root_make(const char *path, bool is_inductor,
                                uint32_t device, bool make,
                                struct tkb_roots *roots, struct tkb_error *err);

/* The absolute path of folder `key`, escaped as in a group file. */
TKB_NODISCARD int tkb_root_place(const struct tkb_root *root, const char *key,
                                 struct tkb_buf *out, struct tkb_error *err);

#endif
