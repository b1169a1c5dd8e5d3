/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_EMIT_H
#define TKBUNDLE_COMPILE_EMIT_H

#include <tkbundle/compile.h>

#include "cli/args.h"

/* The stages that --emit writes instead of entries. */

/* The words of --emit, in the order of the enum. */
#define COMPILE_STAGES "ttir|ttgir|llir|ptx|cubin|sass|amdgcn|hsaco"

enum compile_stage {
	COMPILE_STAGE_TTIR,
	COMPILE_STAGE_TTGIR,
	COMPILE_STAGE_LLIR,
	COMPILE_STAGE_PTX,
	COMPILE_STAGE_CUBIN,
	COMPILE_STAGE_SASS,
	COMPILE_STAGE_AMDGCN,
	COMPILE_STAGE_HSACO,
	COMPILE_STAGE_COUNT
};

/* The word of the stage. */
const char *compile_emit_word(enum compile_stage stage);

/* The product to compile for it: sass is made from a cubin. */
enum compile_stage compile_emit_source(enum compile_stage stage);

/* Is -o a folder, which can hold the stages of several kernels? */
bool compile_emit_is_folder(const char *output);

/*
 * Write the stage of the entry with this key to the place of -o; `product` is
 * the product that compile_emit_source() names.
 *
 * @return 0, TKB_ERR_UNSUPPORTED (nothing to disassemble with), TKB_ERR_IO or
 *         TKB_ERR_NOMEM
 */
TKB_NODISCARD int compile_emit_write(struct cli *cli,
                                     const struct arguments *args,
                                     const char *key, struct tkb_bytes product,
                                     struct tkb_error *err);

#endif
