/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_H
#define TKB_COMPILE_FINALIZE_H

/*
 * What can be known of a whole module before code is made of it: one step after
 * another, in the order of include/tkbundle/finalize.h. None changes what the
 * kernels compute; with `is_fast` the rules of "fuse" may change how it is
 * rounded, where the code allows that.
 */

#include <tkbundle/tkbundle.h>

#include <llvm-c/TargetMachine.h>

#include "finalize/finalize_request.h"

/*
 * Finalize `module`, and tell `log` what each step did, a line for each that did
 * something. The module takes the triple and the layout of `machine`, which may
 * be NULL: then it keeps its own.
 *
 * @return 0; TKB_ERR_INVALID (no such step, no such kernel, a bad rule, a step
 *         that made what is no valid IR: named), or what the log returned
 */
int finalize_module(LLVMModuleRef module, LLVMTargetMachineRef machine,
                    const struct finalize_request *order,
                    const struct tkb_sink *log, struct tkb_error *err);

#endif
