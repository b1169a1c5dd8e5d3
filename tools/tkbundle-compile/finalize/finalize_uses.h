/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_USES_H
#define TKB_COMPILE_FINALIZE_USES_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/*
 * Is `global` read and nothing else? All that its address goes through is
 * followed: casts, GEPs, phis, selects, and the parameters of functions of this
 * module. It is not where its address is stored, returned, made a number, or
 * given to what is not known; nor where a read is volatile or atomic, for then
 * the module says that somebody else may write.
 */
bool finalize_is_only_read(LLVMValueRef global);

#endif
