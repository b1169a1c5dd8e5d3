/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_KEY_H
#define TKB_COMPILE_TRITON_TRITON_KEY_H

/* Digests that identify a job for triton_worker.py. */

#include "base/base.h"
#include "base/digest.h"

/*
 * Compute two digests. `out`, for the pool, covers the request and its
 * environment. `query_out`, for answers remembered for later processes, also
 * covers the Python, the working folder, the machine, and variables that libraries
 * read.
 */
int tkb_triton_key_make(const char *python, struct tkb_bytes request,
                        const char *const *environment,
                        char out[TKB_DIGEST_HEX_SIZE],
                        struct tkb_digest *query_out, struct tkb_error *err);

#endif
