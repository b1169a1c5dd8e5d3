/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_H
#define TKB_COMPILE_FINALIZE_H

/*
 * Optimizes a whole module before code is generated: the steps of
 * include/tkbundle/finalize.h, in that order. None changes what the kernels
 * compute; with `is_fast` the rules of "fuse" may change rounding where the
 * code allows it.
 */

#include <tkbundle/tkbundle.h>

#include <llvm-c/TargetMachine.h>

#include "finalize/finalize_request.h"

/*
 * Finalize `module`, and log a line for each step that changed something. The
 * module gets the triple and layout of `machine`; NULL: it keeps its own.
 *
 * @return 0; TKB_ERR_INVALID (an unknown step or kernel, a bad rule, or a step
 *         that made invalid IR, by name), or the log's own error
 */
int finalize_module(LLVMModuleRef module, LLVMTargetMachineRef machine,
                    const struct finalize_request *request,
                    const struct tkb_sink *log, struct tkb_error *err);

#endif
