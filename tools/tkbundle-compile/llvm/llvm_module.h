/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_LLVM_MODULE_H
#define TKB_COMPILE_LLVM_MODULE_H

/* What is done with a module as a whole, whatever for. */

#include <tkbundle/tkbundle.h>

#include <llvm-c/TargetMachine.h>

/* The module is for that machine: its triple, and how data lie there. */
void llvm_set_layout(LLVMModuleRef module, LLVMTargetMachineRef machine);

/* Passes as `opt -passes` takes them; `machine` may be NULL. O3 vectorizes by SLP. */
TKB_NODISCARD int llvm_run_passes(LLVMModuleRef module,
                                  LLVMTargetMachineRef machine,
                                  const char *passes, struct tkb_error *err);

#endif
