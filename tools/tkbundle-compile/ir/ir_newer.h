/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_NEWER_H
#define TKB_COMPILE_IR_NEWER_H

#include "base/buf.h"

/*
 * Write the text `ir` to `out` with the floating-point constants as LLVM 22 reads
 * them. LLVM 23, which Triton has from 3.8 on, writes their bits as f0x3F3504F3,
 * and short decimals where 22 wants the exact value: 1.1, not
 * 0x3FF19999A0000000. Returns how many were changed; what is no such constant
 * stays as it is.
 */
size_t ir_newer_translate(struct tkb_bytes ir, struct tkb_buf *out);

#endif
