/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_COMPARE_H
#define TKB_COMPILE_REWRITE_COMPARE_H

/* Compares a value with a node, except for the operands. */

#include "rewrite/rewrite_match.h"

/* Compares opcode, type, flags and so on, but not operands or predicate. */
bool compare_instruction(const struct match *match,
                         const struct rule_node *node, LLVMValueRef value);

/* Compares predicates of operands that may be swapped; else true. */
bool compare_predicate(const struct rule_node *node, LLVMValueRef value,
                       bool is_swapped);

/* Compares a constant; for the index of an element, only the number. */
bool compare_constant(const struct rule_node *node, LLVMValueRef value);

#endif
