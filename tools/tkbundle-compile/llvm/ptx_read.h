/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTX_READ_H
#define TKB_COMPILE_PTX_READ_H

/*
 * A read that is written as PTX, as Triton writes its loads:
 *
 *     mov.u32 $0, 0x0;
 *     mov.u32 $1, 0x0;
 *     @$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];
 *
 * The numbers count the outputs first, then the operands of the call.
 */

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

enum {
	PTX_READ_LIMIT = 4 /* outputs */
};

struct ptx_read {
	unsigned count; /* of outputs */
	unsigned width; /* of each, in bits */
	/* Operands of the call: what an output is if the predicate is false */
	int fallbacks[PTX_READ_LIMIT]; /* -1: zero */
	int address;
	int predicate; /* -1: always */
	int64_t offset;
};

/* False for a call of anything else. */
bool ptx_read_of(LLVMValueRef call, struct ptx_read *out);

#endif
