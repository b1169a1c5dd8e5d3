/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_KEY_H
#define TKB_COMPILE_TRITON_TRITON_KEY_H

/* What names a job for triton_worker.py. */

#include "base/base.h"
#include "base/digest.h"

/*
 * Digests of the request and its environment: in `out` for the pool; and, with the
 * Python, the working folder, the machine and variables that libraries read by
 * themselves, in `query_out` for the memory of later processes.
 */
int tkb_triton_key_make(const char *python, struct tkb_bytes request,
                        const char *const *environment,
                        char out[TKB_DIGEST_HEX_SIZE],
                        struct tkb_digest *query_out, struct tkb_error *err);

#endif
