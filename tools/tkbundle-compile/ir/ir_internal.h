/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_INSIDE_H
#define TKB_COMPILE_IR_INSIDE_H

/* What the parts of ir.h share. */

#include <tkbundle/tkbundle.h>

#include "llvm/llvm_handles.h"

/*
 * The module's kernel: `wanted`, or where that is NULL the only one. Returns 0,
 * or TKB_ERR_INVALID, which names those that there are.
 */
int ir_find_kernel(LLVMModuleRef module, const char *wanted, char kernel[1024],
                   struct tkb_error *err);

/*
 * Link what the module calls and does not have from the libdevice at `path`,
 * where there is such a thing. Of libdevice only what is used stays, as if it had
 * been written there, and all but `kernel` becomes internal.
 *
 * @return 0; TKB_ERR_INVALID (a function that is nowhere), TKB_ERR_IO
 */
int ir_link_libdevice(LLVMModuleRef module, LLVMTargetMachineRef machine,
                      const char *path, const char *kernel,
                      struct tkb_error *err);

/*
 * What Triton asks of LLVM's code generator by options that the C API does not
 * have is written into the module: what cannot be reached traps, and but for
 * `is_fusion_off` multiplications and additions may become one.
 */
void ir_prepare(LLVMModuleRef module, bool is_fusion_off);

#endif
