/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_ROOTS_H
#define TKBUNDLE_IMAGE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/tkbundle.h>

/* The roots of an image: caches below the path where it is mounted. */

/* The file that lists their paths and variables. */
#define IMAGE_ROOTS_FILE "io.tkbundle.manifest/roots.json"

/* The name of the root of kernels. */
#define IMAGE_KERNELS "triton"

enum {
	IMAGE_PATH_SIZE = 4096,
	IMAGE_VARIABLE_SIZE = 128,
	IMAGE_ID_SIZE = 16 + 1
};

/*
 * The variable that sets only the place of the root `name`, by the profiles of
 * engines; "": there is none.
 */
void image_root_variable(const char *name, char out[IMAGE_VARIABLE_SIZE]);

/*
 * Is an image of ours mounted at `place`? `id_out` receives the first digits of
 * its bundle's id, or "" if the image does not tell it, as older ones.
 */
bool image_roots_are_at(const char *place, char id_out[IMAGE_ID_SIZE]);

/* Functions that are called for each thing in an image. */
struct image_roots_visitor {
	void *self;
	/* A root, and its path below the place; false: go no further. */
	bool (*root)(void *self, const char *name, const char *path);
};

/*
 * Visit the roots of the image that is mounted at `place`. Only names and paths
 * are read from the file, since an image may come from anybody.
 *
 * @return 0, TKB_MISS (no image of ours is mounted there), TKB_ERR_CORRUPT (its
 *         list makes no sense), or TKB_ERR_CANCELLED (the visitor said false)
 */
TKB_NODISCARD int image_roots_visit(const char *place,
                                    const struct image_roots_visitor *visitor,
                                    struct tkb_error *err);

#endif
