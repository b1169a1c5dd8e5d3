/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_LLVM_HANDLES_H
#define TKB_COMPILE_LLVM_HANDLES_H

/*
 * Scope-bound release of LLVM's handles:
 *
 *     AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
 */

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define AUTO_LLVM(type) type __attribute__((cleanup(release_##type)))

#define DEFINE_RELEASE(type, dispose)                                          \
	static inline void release_##type(type(*handle))                       \
	{                                                                      \
		if (*handle != NULL)                                           \
			dispose(*handle);                                      \
	}

DEFINE_RELEASE(LLVMBuilderRef, LLVMDisposeBuilder)
DEFINE_RELEASE(LLVMContextRef, LLVMContextDispose)
DEFINE_RELEASE(LLVMModuleRef, LLVMDisposeModule)
DEFINE_RELEASE(LLVMMemoryBufferRef, LLVMDisposeMemoryBuffer)
DEFINE_RELEASE(LLVMTargetMachineRef, LLVMDisposeTargetMachine)
DEFINE_RELEASE(LLVMTargetMachineOptionsRef, LLVMDisposeTargetMachineOptions)
DEFINE_RELEASE(LLVMTargetDataRef, LLVMDisposeTargetData)
DEFINE_RELEASE(LLVMPassBuilderOptionsRef, LLVMDisposePassBuilderOptions)

static inline void release_message(char **message)
{
	if (*message != NULL)
		LLVMDisposeMessage(*message);
}

/* A string that LLVM allocated. */
#define AUTO_LLVM_MESSAGE __attribute__((cleanup(release_message))) char *

#endif
