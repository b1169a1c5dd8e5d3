/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_CHECK_H
#define TKB_LAUNCH_CHECK_H

/* A launcher's arguments, held against the files of the kernel. */

#include "launch/c_launcher.h"
#include "launch/parameters.h"

/*
 * Are they what the kernel takes? Where the metadata leaves it open, this
 * settles which parameters are for memory of the kernel's own. Codes: 0,
 * TKB_ERR_INVALID, TKB_ERR_CORRUPT.
 */
TKB_NODISCARD int tkb_check_parameters(struct tkb_c_launcher *launcher,
                                       const struct tkb_parameters *parameters,
                                       struct tkb_error *err);

/*
 * Give them the names that they have in Triton's IR, if there is one and it
 * has as many. Codes: 0, TKB_ERR_INVALID (they are not those), TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_take_formals(struct tkb_c_launcher *launcher,
                                   struct tkb_bytes ttir,
                                   struct tkb_error *err);

#endif
