/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_COPY_H
#define TKBUNDLE_IMAGE_COPY_H

#include <stdbool.h>

#include <tkbundle/tkbundle.h>

/*
 * Copies of a mounted image's caches, in which a command may write. Each root
 * whose place an engine's variable sets is copied to the same path below
 * another folder, unless the user has set the variable to something other than
 * the root. Existing copies stay, and new roots of the image are added. Kernels
 * are not copied: the caller links them.
 */
struct image_copy {
	const char *place; /* where the image is mounted, without a slash at the
	                      end */
	const char *own;   /* the other folder, which exists */
	void *self;
	/* Called with the image's root of kernels. */
	void (*kernels)(void *self, const char *path);
	/* Called with a variable that names a copy. */
	void (*variable)(void *self, const char *name, const char *path);
	/* Does the root have kernels in `triton`, like Inductor's? */
	bool (*is_inductor)(void *self, const char *root);
	/* Called to link these kernels into the copy `own`. */
	void (*link)(void *self, const char *root, const char *own);
};

/*
 * Make the copies.
 *
 * @return 0, TKB_MISS (no image is mounted there), TKB_ERR_CORRUPT, _TOO_LARGE,
 *         _IO or _NOMEM
 */
TKB_NODISCARD int image_copy(const struct image_copy *copy,
                             struct tkb_error *err);

#endif
