/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_H
#define TKB_COMPILE_IR_H

/*
 * LLVM IR to PTX, as Triton does it. LLVM ends the process on some IR ("cannot
 * select") and may crash on damaged IR: call this in a worker only.
 */

#include <tkbundle/tkbundle.h>

struct finalize_request;

struct ir_options {
	const char *arch; /* "90" */
	/* newest version allowed; 86 is 8.6; 0: unknown */
	uint32_t ptx_version;
	const char *kernel; /* NULL: the module's only kernel */
	/* its path, for modules that call it; NULL: none */
	const char *libdevice;
	const struct finalize_request *finalize;
	bool is_optimized;  /* run O3; Triton's IR has had it */
	bool is_fusion_off; /* do not fuse multiplications and additions */
	bool is_llir_only;  /* stop before PTX */
	bool is_bitcode;    /* write LLVM IR as bitcode, not text */
};

/* Where to write the products. */
struct ir_products {
	/* the IR, if it was finalized or is the wanted product */
	struct tkb_sink llir;
	struct tkb_sink ptx;
	char *kernel; /* room of 1,024 bytes for the kernel's name in the PTX */
};

/*
 * Call once per process, before anything else. With `has_pass_output` the IR
 * after each pass is written to standard error. `on_fatal` gets the reason of a
 * fatal error and must end the process.
 */
void ir_start(bool has_pass_output, void (*on_fatal)(const char *reason));

/* The version of LLVM, such as "22.1.8"; "" without LLVM. */
const char *ir_version(void);

enum {
	IR_BUILD_SIZE = 64
};

/*
 * The version of LLVM and the id of its library's build, for keys: a distribution
 * mends a library without another version. Returns `out`; "" without LLVM.
 */
const char *ir_build(char out[IR_BUILD_SIZE]);

/* The path of LLVM's library; NULL if it is a part of this program. */
const char *ir_library(void);

/*
 * Compile `ir`, text or bitcode. LLVM's diagnostics go to `log`.
 *
 * @return 0; TKB_ERR_INVALID with LLVM's message or a list of the kernels;
 *         TKB_ERR_UNSUPPORTED (the target), TKB_ERR_IO, or a sink's own error
 */
int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *log, const struct ir_products *products,
               struct tkb_error *err);

#endif
