/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_COMPARE_H
#define TKB_COMPILE_REWRITE_COMPARE_H

/* Is a value what a node says, beside its operands? */

#include "rewrite/rewrite_match.h"

/*
 * Opcode, type, flags and what else belongs to an instruction; of a comparison
 * not the predicate.
 */
bool compare_instruction(const struct match *match,
                         const struct rule_node *node, LLVMValueRef value);

/*
 * The predicate, of operands that may be swapped. True of other instructions.
 */
bool compare_predicate(const struct rule_node *node, LLVMValueRef value,
                       bool is_swapped);

/* A constant; of the index of an element only the number counts. */
bool compare_constant(const struct rule_node *node, LLVMValueRef value);

/* The number in a constant; false where it is none of at most 64 bits. */
bool compare_index(LLVMValueRef value, uint64_t *out);

#endif
