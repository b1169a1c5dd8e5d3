/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HELPER_H
#define TKB_REMOTE_NET_HELPER_H

/* Runs programs that print credentials. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

/*
 * Run a program, without a shell, in a process group of its own, which is killed
 * if the program takes longer than a remote may for its next byte. `input`, of
 * at most 4096 bytes, is its standard input; its standard output is appended to
 * `out`. `name` stands for it in messages. Returns 0, TKB_MISS (its exit status
 * is not 0), TKB_ERR_DENIED (it cannot be run, or is too slow), TKB_ERR_IO,
 * TKB_ERR_NOMEM, or what tkb_op_limits_check() returns.
 */
TKB_NODISCARD int tkb_helper_run(const char *const argv[], const char *name,
                                 const char *input,
                                 const struct tkb_op_limits *limits,
                                 struct tkb_buf *out, struct tkb_error *err);

#endif
