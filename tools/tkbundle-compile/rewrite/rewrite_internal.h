/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_INTERNAL_H
#define TKB_COMPILE_REWRITE_INTERNAL_H

/*
 * The matching algorithm. A goal is a pair of a node and a value that must
 * match. Pending goals are in a list. A goal with several alternatives pushes a
 * choice; after a failure the search returns to the last choice and undoes all
 * bindings and goals since then.
 */

#include "rewrite/match_state.h"

enum {
	MATCH_NO_GOAL = 0 /* goals are numbered from 1 */
};

enum match_goal_kind {
	MATCH_NODE,   /* the node matches the value */
	MATCH_EITHER, /* a choice: one of the node's operands matches the
	                 value */
	MATCH_SWAP,   /* a choice: the node matches with its first two
	                 operands swapped */
	MATCH_TERM    /* a choice: the term with this number is in the sum */
};

struct match_goal {
	enum match_goal_kind kind;
	uint32_t node;
	LLVMValueRef value;
	size_t next; /* the next pending goal */
};

/* Push a goal before the pending ones. */
TKB_NODISCARD int match_push_goal(struct match *match,
                                  enum match_goal_kind kind, uint32_t node,
                                  LLVMValueRef value, struct tkb_error *err);

/* Push a choice, to which later failures return. */
TKB_NODISCARD int match_push_choice(struct match *match,
                                    enum match_goal_kind kind, uint32_t node,
                                    LLVMValueRef value, struct tkb_error *err);

/*
 * Record something to undo: the binding of a node, by its number, or a taken
 * term of the sum, by its number after the nodes.
 */
TKB_NODISCARD int match_push_trail(struct match *match, size_t what,
                                   struct tkb_error *err);

/* Operand `index` of a node. */
uint32_t match_edge(const struct match *match, const struct rule_node *node,
                    uint32_t index);

/*
 * Bind a node to a value, or compare it with the value it is bound to, and push
 * goals for the operands. 0 or TKB_MISS.
 */
TKB_NODISCARD int match_node(struct match *match, uint32_t index,
                             LLVMValueRef value, struct tkb_error *err);

/* The same with the first two operands swapped. */
TKB_NODISCARD int match_swapped(struct match *match, uint32_t index,
                                LLVMValueRef value, struct tkb_error *err);

#endif
