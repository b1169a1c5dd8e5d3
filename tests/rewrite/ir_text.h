/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_IR_TEXT_H
#define TKB_TESTS_IR_TEXT_H

/*
 * Modules in which what repeats is written once. These lines of a file
 *
 *     ;each k 0..2, at 0..16/8, last 0 %s0..1
 *       %m{k} = mul i32 %a{k}, {at}
 *       %s{k} = add i32 {last}, %m{k}
 *     ;end
 *
 * are its two lines three times: {k} is 0, 1 and 2, {at} is 0, 8 and 16, {last}
 * is 0, %s0 and %s1. A name with one item has it each time; `;and` goes on with
 * the line before it. What stands in several places is a part:
 *
 *     ;part square
 *       %{a} = mul i32 %{b}, %{b}
 *     ;end
 *     ;use square a x y, b i j
 *
 * which is as if its lines stood there, between `;each a x y, b i j` and `;end`.
 * `;from PATH` takes the parts of another file of tests/.
 */

#include "harness.h"

#include <llvm-c/Types.h>

/* The file `path` of tests/, with all its lines; the test's memory. */
struct tkb_bytes ir_text(const char *path);

/* A module of `ir`, which must be right. The caller disposes of it. */
LLVMModuleRef parse_ir(LLVMContextRef context, struct tkb_bytes ir);

/* The same in a context of its own; both are the test's. */
LLVMModuleRef test_module(struct tkb_bytes ir);

#endif
