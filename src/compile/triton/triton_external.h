/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_EXTERNAL_H
#define TKB_COMPILE_TRITON_TRITON_EXTERNAL_H

/* Finds the Python, the worker and the environment for a compile by Triton. */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/*
 * Append the path of the Python named by `given`, a path or a name on $PATH;
 * NULL: $VIRTUAL_ENV/bin/python3, or python3. TKB_ERR_IO if there is none.
 */
TKB_NODISCARD int tkb_triton_find_python(const char *given, struct tkb_buf *out,
                                         struct tkb_error *err);

/*
 * Append the path of triton_worker.py: `given`, or the installed one, or the
 * one next to the running program. TKB_ERR_IO if there is none.
 */
TKB_NODISCARD int tkb_triton_find_worker(const char *given, struct tkb_buf *out,
                                         struct tkb_error *err);

/*
 * The variables of this process that determine what Triton makes and where:
 * "NAME=value", or "NAME" if not set. Ends with NULL.
 *
 * @param cache_root  absolute; NULL: as in the environment
 * @param ptxas       absolute, for every target; NULL: as in the environment
 * @param memory      owns the result
 */
TKB_NODISCARD int tkb_triton_environment(const char *cache_root,
                                         const char *ptxas,
                                         struct tkb_arena *memory,
                                         const char *const **out,
                                         struct tkb_error *err);

/*
 * Append a file that the user named, as tkb_fd_read_path() does, but return
 * TKB_MISS if it does not exist.
 */
TKB_NODISCARD int tkb_triton_read_file(const char *path, struct tkb_buf *out,
                                       struct tkb_error *err);

#endif
