/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_STAGE_H
#define TKBUNDLE_ARCHIVE_STAGE_H

#include <stdbool.h>

#include <tkbundle/tkbundle.h>

#include "archive/archive_folder.h"

/* How the roots of a bundle are arranged in the place. */
enum archive_stage_shape {
	/* If the bundle has trees, each root is a folder: `triton`, and those
	 * named like the trees; else the place is the cache root. */
	ARCHIVE_STAGE_ROOTS,
	/* As in images of MCV: `io.triton.cache`, `io.<tree>.cache`; if there
	 * is a tree of vLLM's, that is `io.vllm.cache`, and all others are
	 * folders in it. */
	ARCHIVE_STAGE_IMAGE
};

/* The folder into which a bundle is emitted, to be packed. */
struct archive_stage {
	char *place;            /* owned; where it will be unpacked */
	char *root;             /* owned; that place, inside our folder */
	char *kernels;          /* owned; the cache root in it, or NULL */
	bool is_inductor;       /* by the name of the place */
	struct tkb_tree *trees; /* owned, and their paths */
	size_t tree_count;
};

/*
 * Plan the stage.
 *
 * @param place  absolute, without "."; NULL: where emit or run puts a bundle
 *               here
 * @param out    released by the caller, also after a failure
 * @return 0, TKB_ERR_INVALID, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int archive_stage_plan(const struct tkb_bundle *bundle,
                                     const char *place,
                                     enum archive_stage_shape shape,
                                     const struct archive_folder *folder,
                                     struct archive_stage *out,
                                     struct tkb_error *err);

void archive_stage_release(struct archive_stage *stage);

#endif
