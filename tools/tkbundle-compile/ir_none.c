/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"
#include "ir.h"

/* What stands for ir.c where there is no LLVM. */

void ir_start(bool prints_passes)
{
	(void)prints_passes;
}

const char *ir_version(void)
{
	return "(none)";
}

int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *ptx, char kernel[1024],
               struct tkb_error *err)
{
	(void)ir, (void)options, (void)ptx, (void)kernel;
	return fail(err, TKB_ERR_UNSUPPORTED,
	            "this tkbundle-compile was built without LLVM, and cannot "
	            "compile LLVM IR");
}
