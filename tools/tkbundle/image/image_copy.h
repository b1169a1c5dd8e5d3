/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_COPY_H
#define TKBUNDLE_IMAGE_COPY_H

#include <stdbool.h>

#include <tkbundle/tkbundle.h>

/*
 * Copies of a mounted image's caches, in which a command may write. Each root, of which
 * an engine's variable says where it is, is copied to the same path below another
 * folder, unless the user has set the variable to something else than the root. What is
 * there stays, and what is new in the image is added. Kernels are not copied: the caller
 * links them.
 */
struct image_copy {
	const char *place; /* where it is mounted, without a slash at its end */
	const char *own;   /* the other folder, which is there */
	void *self;
	/* The image's root of kernels. */
	void (*kernels)(void *self, const char *path);
	/* A variable that names a copy. */
	void (*variable)(void *self, const char *name, const char *path);
	/* Are there kernels in `triton` below the root, as Inductor has them? */
	bool (*is_inductor)(void *self, const char *root);
	/* Link those to the copy `own`. */
	void (*link)(void *self, const char *root, const char *own);
};

/*
 * Make them.
 *
 * @return 0, TKB_MISS (no image is mounted there), TKB_ERR_CORRUPT, _TOO_LARGE, _IO or
 *         _NOMEM
 */
TKB_NODISCARD int image_copy(const struct image_copy *copy,
                             struct tkb_error *err);

#endif
