/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_EXTERNAL_H
#define TKB_COMPILE_FINALIZE_EXTERNAL_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* True for a kernel that is defined in the module. */
bool finalize_is_kernel(LLVMValueRef function);

/* True if nothing outside the module can refer to the value by name. */
bool finalize_is_internal(LLVMValueRef value);

/*
 * True if the module declares that `value` is used or written from outside: it
 * is externally initialized (like CUDA's __device__ and __constant__ variables,
 * which a host may write before a launch), listed in llvm.used or
 * nvvm.annotations (a managed variable), or belongs to LLVM.
 */
bool finalize_is_used_externally(LLVMModuleRef module, LLVMValueRef value);

#endif
