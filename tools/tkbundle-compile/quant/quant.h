/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_QUANT_H
#define TKB_COMPILE_QUANT_H

/*
 * The schemes of quantization (tkbundle/finalize.h): which steps and rules a
 * scheme uses, and which kernels fit it.
 */

#include <llvm-c/Core.h>

#include "compile/compiler/steps.h"

/* Does the scheme use this step? */
bool quant_has_step(enum tkb_quant quant, enum tkb_step step);

/* Does the scheme use the rules of this built-in file? */
bool quant_has_rules(enum tkb_quant quant, const char *file);

/*
 * The reason why the kernel does not fit the scheme; NULL if it does. Call it
 * after functions are inlined, arguments bound and variables in registers, and
 * before loops are unrolled.
 */
const char *quant_fault(LLVMValueRef kernel, enum tkb_quant quant);

/*
 * The reason why the scheme had no effect on the finished kernel; NULL if it
 * had. Call it after all steps and rules.
 */
const char *quant_fault_done(LLVMValueRef kernel, enum tkb_quant quant);

#endif
