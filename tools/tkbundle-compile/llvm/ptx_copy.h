/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTX_COPY_H
#define TKB_COMPILE_PTX_COPY_H

/*
 * Recognizes an asynchronous copy from global to shared memory that is written as
 * inline PTX, in Triton's form:
 *
 *     cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;
 *
 * The last operand says how many bytes are read; zeros fill the rest.
 */

#include <llvm-c/Core.h>

/* How many bytes it copies, all or none of them read; 0: it is no such copy. */
unsigned ptx_copy_size(LLVMValueRef call);

/*
 * Make a load and a store of such a copy. The store has happened where the copy
 * began, so no group of copies has to be waited for.
 */
void ptx_copy_split(LLVMBuilderRef builder, LLVMValueRef call);

#endif
