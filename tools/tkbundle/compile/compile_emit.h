/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_EMIT_H
#define TKBUNDLE_COMPILE_EMIT_H

#include <tkbundle/compile.h>

#include "cli/args.h"

/* What --emit writes instead of entries. */

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

/* Its word. */
const char *compile_emit_word(enum compile_stage stage);

/* What to make for it: sass is made of a cubin. */
enum compile_stage compile_emit_source(enum compile_stage stage);

/* Is -o a folder, which takes the stage of many? */
bool compile_emit_is_folder(const char *output);

/*
 * Write the stage of the entry that `key` would be to where -o says; `product`
 * is what compile_emit_source() asks for.
 *
 * @return 0, TKB_ERR_UNSUPPORTED (nothing to disassemble with), TKB_ERR_IO or
 *         TKB_ERR_NOMEM
 */
TKB_NODISCARD int compile_emit_write(struct cli *cli,
                                     const struct arguments *args,
                                     const char *key, struct tkb_bytes product,
                                     struct tkb_error *err);

#endif
