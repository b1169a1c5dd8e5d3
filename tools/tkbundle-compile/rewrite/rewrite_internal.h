/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_REWRITE_INSIDE_H
#define TKB_COMPILE_REWRITE_INSIDE_H

/*
 * How a rule is matched. A goal is a node that has to be a value. Goals wait in
 * a list; one that can be met in several ways leaves a choice, to which a
 * failure comes back: what was bound and asked for since then is undone.
 */

#include "rewrite/match_state.h"

enum {
	MATCH_NO_GOAL = 0 /* they are counted from 1 */
};

enum match_goal_kind {
	MATCH_NODE,   /* the node is the value */
	MATCH_EITHER, /* a choice: one of its operands is */
	MATCH_SWAP,   /* a choice: its first two operands, swapped, are */
	MATCH_TERM    /* the term of that number is one of the sum's */
};

struct match_goal {
	enum match_goal_kind kind;
	uint32_t node;
	LLVMValueRef value;
	size_t next; /* goal behind it */
};

/* Put a goal before those that wait. */
TKB_NODISCARD int match_push_goal(struct match *match,
                                  enum match_goal_kind kind, uint32_t node,
                                  LLVMValueRef value, struct tkb_error *err);

/* A failure from here on comes back to this. */
TKB_NODISCARD int match_push_choice(struct match *match,
                                    enum match_goal_kind kind, uint32_t node,
                                    LLVMValueRef value, struct tkb_error *err);

/*
 * Say that something is to be undone: the binding of a node, by its number, or
 * that a term of the sum was taken, by its number behind the nodes.
 */
TKB_NODISCARD int match_push_trail(struct match *match, size_t what,
                                   struct tkb_error *err);

/* Operand `index` of a node. */
uint32_t match_edge(const struct match *match, const struct rule_node *node,
                    uint32_t index);

/*
 * Bind a node to a value, or hold it against what it is bound to, and push what
 * must be of its operands: 0 or TKB_MISS.
 */
TKB_NODISCARD int match_node(struct match *match, uint32_t index,
                             LLVMValueRef value, struct tkb_error *err);

/* The other order of a node's first two operands. */
TKB_NODISCARD int match_swapped(struct match *match, uint32_t index,
                                LLVMValueRef value, struct tkb_error *err);

#endif
