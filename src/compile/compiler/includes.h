/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_INCLUDES_H
#define TKB_COMPILE_COMPILER_INCLUDES_H

/*
 * What a CUDA source includes decides what comes of it. The preprocessor that
 * knows what is included runs only where something is compiled, so more is told:
 * every file that a line "#include" could mean, whatever condition it stands
 * under. What lies in none of the folders is the toolkit's own, whose version
 * stands in the key.
 */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

/*
 * Append to `out` the digests of what `source` includes, and of what that
 * includes. `name` is the source's file, in whose folder is searched first;
 * `folders` end with NULL.
 *
 * @return 0, TKB_ERR_UNSUPPORTED (a name that is computed: nobody can tell), TKB_ERR_IO,
 *         TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_NODISCARD int tkb_includes_add(struct tkb_bytes source, const char *name,
                                   const char *const *folders,
                                   struct tkb_buf *out, struct tkb_error *err);

/* Append what the file `path` holds, through links too. */
TKB_NODISCARD int tkb_input_read(const char *path, struct tkb_buf *out,
                                 struct tkb_error *err);

#endif
