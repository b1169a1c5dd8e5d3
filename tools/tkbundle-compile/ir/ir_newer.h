/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_IR_NEWER_H
#define TKB_COMPILE_IR_NEWER_H

#include "base/buf.h"

/*
 * Copy the IR text `ir` to `out` with floating-point constants in LLVM 22's
 * notation. LLVM 23, which Triton has since 3.8, writes their bits as
 * f0x3F3504F3, and short decimals where 22 requires the exact value: 1.1
 * instead of 0x3FF19999A0000000. Returns the number of translated constants;
 * anything else is copied unchanged.
 */
size_t ir_newer_translate(struct tkb_bytes ir, struct tkb_buf *out);

#endif
