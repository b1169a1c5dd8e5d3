/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_QUANT_H
#define TKB_COMPILE_QUANT_H

/*
 * What a scheme of quantization decides (tkbundle/finalize.h): which steps and
 * rules are of use, and which kernels are of the scheme.
 */

#include <llvm-c/Core.h>

#include "compile/compiler/steps.h"

/* Is the step of use in the scheme? */
bool quant_has_step(enum tkb_quant quant, enum tkb_step step);

/* Are the rules of this built-in file part of the scheme? */
bool quant_has_rules(enum tkb_quant quant, const char *file);

/*
 * Why the kernel is not of the scheme, in words; NULL: it is. Functions have been
 * inlined and arguments bound; loops are as they were, and variables in registers.
 */
const char *quant_fault(LLVMValueRef kernel, enum tkb_quant quant);

/*
 * The same once all steps have been done and rules applied: why that did not do
 * what the scheme is for.
 */
const char *quant_fault_done(LLVMValueRef kernel, enum tkb_quant quant);

#endif
