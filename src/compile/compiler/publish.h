/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_PUBLISH_H
#define TKB_COMPILE_COMPILER_PUBLISH_H

/*
 * A compiled kernel becomes an entry in Triton's shape: its stages, metadata,
 * and a group file, published as an emit does it.
 */

#include <tkbundle/cache.h>

#include "base/base.h"
#include "base/buf.h"

/* A stage of it: file "<kernel>.<extension>". */
struct tkb_stage_file {
	const char *extension; /* "ptx" */
	struct tkb_bytes bytes;
};

struct tkb_publication {
	const char *root;   /* the cache root, which is made if need be */
	const char *key;    /* its folder; encodes the metadata's hash */
	const char *kernel; /* its name */
	const struct tkb_stage_file *files; /* by extension */
	size_t file_count;
	struct tkb_bytes metadata; /* the text of "<kernel>.json" */
};

/* Is a whole entry of this key there? */
TKB_NODISCARD int tkb_publication_find(const char *root, const char *key,
                                       bool *out, struct tkb_error *err);

/*
 * Publish. Returns 0, also where somebody was faster; TKB_ERR_IO,
 * TKB_ERR_UNAVAILABLE (a compiler is at work there just now), TKB_ERR_CORRUPT
 * or TKB_ERR_TOO_LARGE (no file can have the kernel's name) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_publication_do(const struct tkb_publication *publication,
                                     struct tkb_error *err);

/*
 * The metadata of a kernel: `given` (a JSON object, as Triton wrote it for the
 * same IR; empty: none) with its hash, name and target replaced, and the members
 * that a launch needs added where it has none.
 */
struct tkb_metadata_request {
	struct tkb_bytes given;
	const char *hash; /* hexadecimal */
	const char *kernel;
	const char *arch;
	uint32_t num_warps;     /* 0: as given, else the next */
	uint32_t default_warps; /* 0: 4 */
};

TKB_NODISCARD int tkb_metadata_write(const struct tkb_metadata_request *order,
                                     struct tkb_buf *out,
                                     struct tkb_error *err);

#endif
