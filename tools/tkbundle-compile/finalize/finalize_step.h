/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_STEP_H
#define TKB_COMPILE_FINALIZE_STEP_H

/* The steps of finalize.h. A step without work changes nothing. */

#include <tkbundle/tkbundle.h>

#include "finalize/finalize_request.h"
#include "llvm/llvm_handles.h"

struct finalize {
	LLVMModuleRef module;
	LLVMTargetMachineRef machine; /* may be NULL */
	const struct finalize_request *request;
	const struct tkb_sink *log;
	/* The size of the grid in x, y and z, where it is bound; 0: not known */
	uint64_t blocks[3];
	/* For the log, such as "2 globals"; empty: nothing */
	char report[160];
};

int finalize_strip(struct finalize *finalize, struct tkb_error *err);
int finalize_internalize(struct finalize *finalize, struct tkb_error *err);
int finalize_bind(struct finalize *finalize, struct tkb_error *err);
int finalize_fold_globals(struct finalize *finalize, struct tkb_error *err);
int finalize_resolve_calls(struct finalize *finalize, struct tkb_error *err);
int finalize_unroll(struct finalize *finalize, struct tkb_error *err);
int finalize_split(struct finalize *finalize, struct tkb_error *err);
int finalize_read(struct finalize *finalize, struct tkb_error *err);
int finalize_gather(struct finalize *finalize, struct tkb_error *err);
int finalize_fuse(struct finalize *finalize, struct tkb_error *err);
int finalize_prepack(struct finalize *finalize, struct tkb_error *err);
int finalize_fold(struct finalize *finalize, struct tkb_error *err);
int finalize_optimize(struct finalize *finalize, struct tkb_error *err);
int finalize_hoist(struct finalize *finalize, struct tkb_error *err);
int finalize_verify(struct finalize *finalize, struct tkb_error *err);

/*
 * Refuse kernels that do not fit the quantization scheme (the first function,
 * before loops are unrolled), or that it did not change (the second, after
 * rules were applied).
 */
int finalize_check_quant(struct finalize *finalize, struct tkb_error *err);
int finalize_check_quant_done(const struct finalize *finalize,
                              struct tkb_error *err);

/* The number of the architecture: 90 for "sm_90a"; 0 without a machine. */
uint32_t finalize_arch(LLVMTargetMachineRef machine);

/* Fuse products and sums as code generation would, and forbid others. */
void finalize_contract(const struct finalize *finalize);

/* Is it one of the kernels to keep? */
bool finalize_keeps(const struct finalize *finalize, LLVMValueRef kernel);

/* Report "2 globals" or "1 global"; nothing for 0. */
void finalize_count(struct finalize *finalize, size_t count, const char *what);

/* Count instructions, and report a change of that number. */
size_t finalize_size(LLVMModuleRef module);
void finalize_report_size(struct finalize *finalize, size_t before);

/* Run LLVM's passes over the module; the second function reports its size, too. */
int finalize_run(struct finalize *finalize, const char *passes,
                 struct tkb_error *err);
int finalize_run_counted(struct finalize *finalize, const char *passes,
                         struct tkb_error *err);

/* Iterate over all instructions of a module; NULL at the end. */
LLVMValueRef finalize_first(LLVMModuleRef module);
LLVMValueRef finalize_next(LLVMValueRef instruction);

#endif
