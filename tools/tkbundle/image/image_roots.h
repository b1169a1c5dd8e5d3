/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_ROOTS_H
#define TKBUNDLE_IMAGE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/tkbundle.h>

/* The roots of an image: caches that lie below the path where it is mounted. */

/* Where they lie, and their variables. */
#define IMAGE_ROOTS_FILE "io.tkbundle.manifest/roots.json"

/* The name of the root of kernels. */
#define IMAGE_KERNELS "triton"

enum {
	IMAGE_PATH_SIZE = 4096,
	IMAGE_VARIABLE_SIZE = 128
};

/*
 * The variable that alone says where the root `name` is, by the profiles of engines;
 * "": none does.
 */
void image_root_variable(const char *name, char out[IMAGE_VARIABLE_SIZE]);

/* Is an image of ours mounted at `place`? */
bool image_roots_are_at(const char *place);

/* Functions that are called with what an image has. */
struct image_roots_visitor {
	void *self;
	/* A root, and its path below the place; false: go no further. */
	bool (*root)(void *self, const char *name, const char *path);
};

/*
 * Visit the roots of the image that is mounted at `place`. What the file says beyond
 * names and paths is not believed: an image may be anybody's.
 *
 * @return 0, TKB_MISS (no image of ours is mounted there), TKB_ERR_CORRUPT (its list
 *         makes no sense), or TKB_ERR_CANCELLED (the visitor said false)
 */
TKB_NODISCARD int image_roots_visit(const char *place,
                                    const struct image_roots_visitor *visitor,
                                    struct tkb_error *err);

#endif
