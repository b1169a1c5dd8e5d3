/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_METADATA_H
#define TKB_CACHE_METADATA_H

/*
 * The metadata of a kernel, `<name>.json`: its hash, its target, its symbol in
 * the binary, and the version of Triton. Members that some versions of Triton
 * do not write are "" or 0.
 */

#include "base/arena.h"
#include "base/base.h"

struct tkb_metadata {
	const char *hash; /* hexadecimal */
	const char *symbol;
	const char *version;
	struct tkb_target target;
};

/* Parse `text` into `arena`. A failure has the reason "metadata". */
TKB_NODISCARD int tkb_metadata_parse(struct tkb_bytes text, const char *name,
                                     struct tkb_arena *arena,
                                     struct tkb_metadata *out,
                                     struct tkb_error *err);

/* Check that the hash fits `key`. Triton 2 does not write a hash. */
TKB_NODISCARD int tkb_metadata_check_key(const struct tkb_metadata *metadata,
                                         const char *key,
                                         struct tkb_error *err);

/*
 * Is `name` the name of a binary for `backend`, or, if that is unknown, for any
 * backend?
 */
bool tkb_metadata_is_binary(const char *backend, const char *name);

/* The extension of binaries for `backend`, or the first of several. */
const char *tkb_metadata_binary(const char *backend);

/*
 * If file `name` is a binary by its name, check that it is for this kernel's
 * target and contains its symbol. A failure has the reason "binary".
 */
TKB_NODISCARD int tkb_metadata_check_binary(const struct tkb_metadata *metadata,
                                            const char *name,
                                            struct tkb_bytes bytes,
                                            struct tkb_error *err);

#endif
