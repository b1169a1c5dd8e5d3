/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_H
#define TKB_COMPILE_IR_H

/*
 * LLVM IR to PTX, as Triton does it. LLVM ends the process on some IR ("cannot
 * select") and crashes on some that is damaged: only a worker may call this.
 */

#include <tkbundle/tkbundle.h>

struct ir_options {
	const char *arch;     /* "90" */
	uint32_t ptx_version; /* 86 is 8.6 */
	const char *kernel;   /* NULL: the only one there is */
	const char
		*libdevice; /* a path, for modules that need it; NULL: none */
	bool is_optimized;  /* by O3; Triton's IR has had that */
	bool no_fusion;     /* of multiplications and additions */
	bool prints_passes; /* the IR after each goes to standard error */
};

/*
 * Once in a process, before anything else. With `prints_passes` the IR after each
 * pass goes to standard error.
 */
void ir_start(bool prints_passes);

/* "22.1.8" */
const char *ir_version(void);

/*
 * Send the PTX of `ir` (text or bitcode) to `ptx`, and the name of the one kernel
 * in it to `kernel`.
 *
 * @return 0; TKB_ERR_INVALID with LLVM's own words, or which kernels there are;
 *         TKB_ERR_UNSUPPORTED (the target), TKB_ERR_IO, or what the sink
 *         returned
 */
int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *ptx, char kernel[1024],
               struct tkb_error *err);

#endif
