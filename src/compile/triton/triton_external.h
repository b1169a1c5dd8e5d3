/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_EXTERNAL_H
#define TKB_COMPILE_TRITON_TRITON_EXTERNAL_H

/* What stands around a compilation by Triton. */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/*
 * Append the path of the Python that `given` means, a path or a name on $PATH;
 * NULL: $VIRTUAL_ENV/bin/python3, or python3. TKB_ERR_IO where there is none.
 */
TKB_NODISCARD int tkb_triton_find_python(const char *given, struct tkb_buf *out,
                                         struct tkb_error *err);

/*
 * Append the path of triton_worker.py: `given`, or where it is installed, or
 * beside the running program. TKB_ERR_IO where it is not.
 */
TKB_NODISCARD int tkb_triton_find_worker(const char *given, struct tkb_buf *out,
                                         struct tkb_error *err);

/*
 * What of this process's environment decides what Triton makes, and where it puts
 * it: "NAME=value", or "NAME" for what is not set. Ends with NULL.
 *
 * @param cache_root  absolute; NULL: where the environment says
 * @param ptxas       likewise; of any target
 * @param memory      owns what is made
 */
TKB_NODISCARD int tkb_triton_environment(const char *cache_root,
                                         const char *ptxas,
                                         struct tkb_arena *memory,
                                         const char *const **out,
                                         struct tkb_error *err);

/*
 * Append a file that the user named, at most what the buffer takes. A link to one
 * is as good, unlike in a cache. Returns 0, TKB_MISS and a message (it is not
 * there), TKB_ERR_INVALID, _TOO_LARGE or _IO.
 */
TKB_NODISCARD int tkb_triton_read_file(const char *path, struct tkb_buf *out,
                                       struct tkb_error *err);

/* Is it a file that may be run? */
bool tkb_triton_is_program(const char *path);

#endif
