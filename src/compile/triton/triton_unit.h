/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_UNIT_H
#define TKB_COMPILE_TRITON_TRITON_UNIT_H

#include <tkbundle/triton_compile.h>

#include "base/base.h"

/* Returns 0, or TKB_ERR_INVALID if a member is missing or does not apply. */
TKB_NODISCARD int tkb_triton_check_unit(const struct tkb_triton_unit *unit,
                                        struct tkb_error *err);

#endif
