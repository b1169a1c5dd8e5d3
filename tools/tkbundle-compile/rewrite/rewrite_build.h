/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_BUILD_H
#define TKB_COMPILE_REWRITE_BUILD_H

/* What comes in the place of a match. */

#include "rewrite/rewrite_match.h"

/*
 * Put the replacement there, give all its users to it, and remove what they
 * leave without any. The match is void afterwards.
 */
TKB_NODISCARD int build_replacement(const struct match *match,
                                    LLVMModuleRef module,
                                    LLVMBuilderRef builder,
                                    struct tkb_error *err);

#endif
