/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_INCLUDES_H
#define TKB_COMPILE_COMPILER_INCLUDES_H

/*
 * The files that a CUDA source includes are part of its key. Only the
 * preprocessor knows them exactly, and it runs only when compiling. So the key
 * covers more: every file that any #include line may mean, whatever its #if, in
 * each folder that may be searched for it.
 * Headers that are in none of the folders belong to the toolkit, whose version
 * is in the key.
 */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

/*
 * Append to `out` the digests of all files that `source` includes, directly or
 * not. `name` is the source's file, whose folder is searched first; `folders`
 * ends with NULL.
 *
 * @return 0, TKB_ERR_UNSUPPORTED (a computed name), TKB_ERR_IO,
 *         TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_NODISCARD int tkb_includes_add(struct tkb_bytes source, const char *name,
                                   const char *const *folders,
                                   struct tkb_buf *out, struct tkb_error *err);

#endif
