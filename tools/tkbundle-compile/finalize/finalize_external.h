/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_OUTSIDE_H
#define TKB_COMPILE_FINALIZE_OUTSIDE_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Is it a kernel that is defined here, which a host can start? */
bool finalize_is_kernel(LLVMValueRef function);

/* Can nothing outside of the module name it? */
bool finalize_is_own(LLVMValueRef value);

/*
 * Does the module say itself that `value` is used or written from outside: is it
 * externally initialized (as CUDA's __device__ and __constant__ variables are,
 * which a host may write before a launch), in llvm.used, in nvvm.annotations (a
 * managed variable), or LLVM's own?
 */
bool finalize_is_seen_outside(LLVMModuleRef module, LLVMValueRef value);

#endif
