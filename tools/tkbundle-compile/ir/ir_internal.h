/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_INTERNAL_H
#define TKB_COMPILE_IR_INTERNAL_H

/* Shared by the files that implement ir.h. */

#include <tkbundle/tkbundle.h>

#include "llvm/llvm_handles.h"

/*
 * Find the kernel `wanted`; if NULL, the only one. Returns 0, or
 * TKB_ERR_INVALID with a list of the kernels.
 */
int ir_find_kernel(LLVMModuleRef module, const char *wanted, char kernel[1024],
                   struct tkb_error *err);

/*
 * Link functions that the module calls but does not define from the libdevice at
 * `path`, if there are any. The functions used are inlined and optimized with the
 * module, and everything but `kernel` becomes internal. If finalize has already
 * fused the module's products and sums, those of the libdevice are fused in the
 * same way.
 *
 * @return 0; TKB_ERR_INVALID (an undefined function), TKB_ERR_IO
 */
int ir_link_libdevice(LLVMModuleRef module, LLVMTargetMachineRef machine,
                      const char *path, const char *kernel, bool is_fusion_off,
                      struct tkb_error *err);

/*
 * Express in the module what Triton passes to LLVM's code generator as options
 * that the C API lacks: unreachable code traps, and unless `is_fusion_off`,
 * multiplications and additions may be fused.
 */
void ir_prepare(LLVMModuleRef module, bool is_fusion_off);

#endif
