/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_PUBLISH_H
#define TKB_COMPILE_COMPILER_PUBLISH_H

/*
 * Makes an entry from a compiled kernel, as Triton would: with stages, metadata
 * and a group file. It is published like an emitted entry.
 */

#include <tkbundle/cache.h>

#include "base/base.h"
#include "base/buf.h"

/* A stage, in the file "<kernel>.<extension>". */
struct tkb_stage_file {
	const char *extension; /* "ptx" */
	struct tkb_bytes bytes;
};

struct tkb_publication {
	const char *root; /* cache root, made if absent */
	const char *key;  /* name of its folder; encodes the metadata's hash */
	const char *kernel; /* its name */
	const struct tkb_stage_file *files;
	size_t file_count;
	struct tkb_bytes metadata; /* text of "<kernel>.json" */
};

/* Does a complete entry with this key exist? */
TKB_NODISCARD int tkb_publication_find(const char *root, const char *key,
                                       bool *out, struct tkb_error *err);

/*
 * Publish an entry. Returns 0, also if another process published it first;
 * TKB_ERR_IO, TKB_ERR_UNAVAILABLE (a compiler is writing this entry),
 * TKB_ERR_CORRUPT or TKB_ERR_TOO_LARGE (the kernel's name cannot be a file
 * name) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_publication_write(
	const struct tkb_publication *publication, struct tkb_error *err);

/*
 * Metadata of a kernel: the members of `given` (a JSON object that Triton wrote
 * for the same IR; may be empty) with hash, name and target replaced, and with
 * defaults for missing members that a launch needs.
 */
struct tkb_metadata_request {
	struct tkb_bytes given;
	const char *hash; /* hexadecimal */
	const char *kernel;
	const char *arch;
	const char *bound;      /* bound arguments as JSON; NULL: none */
	uint32_t num_warps;     /* 0: as given, else default_warps */
	uint32_t default_warps; /* 0: 4 */
};

TKB_NODISCARD int tkb_metadata_write(const struct tkb_metadata_request *request,
                                     struct tkb_buf *out,
                                     struct tkb_error *err);

#endif
