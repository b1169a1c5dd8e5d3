/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_LLVM_MODULE_H
#define TKB_COMPILE_LLVM_MODULE_H

/* Operations on a whole module. */

#include <stdbool.h>

#include <tkbundle/tkbundle.h>

#include <llvm-c/TargetMachine.h>

/*
 * Set LLVM's options: `more`, as on a command line, and one of our own. Call it once
 * per process. Our option turns off the merging of stores: in LLVM 22, it drops a
 * volatile store of a constant that overlaps another such store.
 */
void llvm_set_options(const char *const *more, size_t count);

/* Set the module's triple and data layout to the machine's. */
void llvm_set_layout(LLVMModuleRef module, LLVMTargetMachineRef machine);

/* Run passes as `opt -passes`; `machine` may be NULL. O3 includes SLP. */
TKB_NODISCARD int llvm_run_passes(LLVMModuleRef module,
                                  LLVMTargetMachineRef machine,
                                  const char *passes, struct tkb_error *err);

/* Marks of a function, which mean something to us alone. */
void llvm_add_mark(LLVMValueRef function, const char *mark);
bool llvm_has_mark(LLVMValueRef function, const char *mark);

/* The products and sums are already fused: code generation will not fuse others. */
#define LLVM_CONTRACTED "tkb.contracted"

#endif
