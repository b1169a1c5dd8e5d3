/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_H
#define TKB_COMPILE_IR_H

/*
 * LLVM IR to PTX, as Triton does it. LLVM ends the process on some IR ("cannot
 * select") and crashes on some that is damaged: only a worker may call this.
 */

#include <tkbundle/tkbundle.h>

struct finalize_request;

struct ir_options {
	const char *arch;     /* "90" */
	uint32_t ptx_version; /* the newest that is taken; 86 is 8.6; 0: none
	                          is known */
	const char *kernel;   /* NULL: the only one there is */
	const char
		*libdevice; /* a path, for modules that need it; NULL: none */
	const struct finalize_request *finalize;
	bool is_optimized;  /* by O3; Triton's IR has had that */
	bool is_fusion_off; /* of multiplications and additions */
	bool is_llir_only;  /* it is not to become PTX */
	bool is_bitcode;    /* LLVM IR is wanted as bitcode, not text */
};

/* Where what is made goes. */
struct ir_products {
	struct tkb_sink llir; /* the IR, where it was changed or is all that is
	                         wanted */
	struct tkb_sink ptx;
	char *kernel; /* room for 1,024 bytes: the kernel's name in the PTX */
};

/*
 * Once in a process, before anything else. With `has_pass_output` the IR after each
 * pass goes to standard error. `on_fatal` is told why LLVM ends the process, and
 * must do that.
 */
void ir_start(bool has_pass_output, void (*on_fatal)(const char *reason));

/* "22.1.8"; "" where there is no LLVM. */
const char *ir_version(void);

/*
 * Compile `ir`, text or bitcode. What LLVM says goes to `log`.
 *
 * @return 0; TKB_ERR_INVALID with LLVM's own words, or which kernels there are;
 *         TKB_ERR_UNSUPPORTED (the target), TKB_ERR_IO, or what a sink returned
 */
int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *log, const struct ir_products *products,
               struct tkb_error *err);

#endif
