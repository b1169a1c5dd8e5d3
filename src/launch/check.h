/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_CHECK_H
#define TKB_LAUNCH_CHECK_H

/* Checks a launcher's arguments against the kernel's files. */

#include "launch/c_launcher.h"
#include "launch/parameters.h"

/*
 * Check that the kernel takes these arguments. If the metadata leaves open
 * which parameters are for scratch memory, decide that. Returns 0,
 * TKB_ERR_INVALID or TKB_ERR_CORRUPT.
 */
TKB_NODISCARD int tkb_check_parameters(struct tkb_c_launcher *launcher,
                                       const struct tkb_parameters *parameters,
                                       struct tkb_error *err);

/*
 * Name the arguments as in Triton's IR, if there is one with as many of them.
 * Returns 0, TKB_ERR_INVALID (they do not match) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_apply_formals(struct tkb_c_launcher *launcher,
                                    struct tkb_bytes ttir,
                                    struct tkb_error *err);

#endif
