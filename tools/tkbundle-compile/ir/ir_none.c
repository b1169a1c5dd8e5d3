/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/fail.h"
#include "ir/ir.h"

/* Replaces ir.c in a build without LLVM. */

void ir_start(bool has_pass_output, void (*on_fatal)(const char *reason))
{
	(void)has_pass_output, (void)on_fatal;
}

const char *ir_version(void)
{
	return "";
}

const char *ir_build(char out[IR_BUILD_SIZE])
{
	out[0] = '\0';
	return out;
}

const char *ir_library(void)
{
	return NULL;
}

int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *log, const struct ir_products *products,
               struct tkb_error *err)
{
	(void)ir, (void)options, (void)log, (void)products;
	return fail(err, TKB_ERR_UNSUPPORTED,
	            "this tkbundle-compile was built without LLVM, and cannot "
	            "compile LLVM IR");
}
