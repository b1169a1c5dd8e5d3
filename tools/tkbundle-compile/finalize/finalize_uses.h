/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_USES_H
#define TKB_COMPILE_FINALIZE_USES_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/*
 * True if the memory of `pointer`, a global or an argument of a function, is only read.
 * Follows the address through casts, GEPs, phis, selects and parameters of functions of
 * this module, and into loads that are written as PTX. False if the address is stored,
 * returned, converted to a number, or passed to unknown code. Also false if a read is
 * volatile or atomic: others may then write.
 */
bool finalize_is_only_read(LLVMValueRef pointer);

#endif
