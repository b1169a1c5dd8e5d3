/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_BUILD_H
#define TKB_COMPILE_REWRITE_BUILD_H

/* Builds the replacement of a match. */

#include "rewrite/rewrite_match.h"

/*
 * Insert the replacement, redirect all uses of the root to it, and remove
 * instructions that are then unused. The match is invalid afterwards.
 */
TKB_NODISCARD int build_replacement(const struct match *match,
                                    LLVMModuleRef module,
                                    LLVMBuilderRef builder,
                                    struct tkb_error *err);

#endif
