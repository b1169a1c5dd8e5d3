/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_RULE_H
#define TKB_COMPILE_RULE_H

/*
 * The language of rules, and what a rule is once it was read.
 *
 * A file of rules is LLVM IR. The rule NAME is two functions of one type:
 *
 *     define i32 @NAME.pattern(i32 %x, i32 "tkb.constant" %c) #0 { ... }
 *     define i32 @NAME.replacement(i32 %x, i32 %c) { ... }
 *     attributes #0 = { "tkb.rule"="exact" "tkb.arch"=">=61" }
 *
 * each of one basic block. A pattern matches instructions of one block that
 * compute what it returns. Its parameters are what it leaves open: any value of
 * that type; one that is used twice must be the same value twice. Operands of
 * commutative operations may be swapped. Constants are compared as they are,
 * but for the index of an extractelement or insertelement, of which the number
 * counts.
 *
 * Attributes of the pattern:
 *
 *     "tkb.rule"="exact"    never changes what is computed
 *     "tkb.rule"="fast"     changes how it is rounded
 *     "tkb.arch"=">=61"     for sm_61 and later
 *     "tkb.terms"="any"     the root is a chain of integer additions without
 *                           flags: its terms may stand in any order, and be
 *                           added up in any way. One term is a bare parameter:
 *                           the sum of what the pattern does not name, or 0.
 *
 * Attributes of the pattern's parameters, filters:
 *
 *     "tkb.constant"            a constant: numbers, all of them defined
 *     "tkb.power-of-two"        a constant integer with one bit set
 *     "tkb.range"="-128,127"    an integer (of a vector: each) that is known to
 *                               be in there, ends included
 *     "tkb.non-negative"        as a range from 0
 *     "tkb.magnitude"="1e-38,1" a constant whose magnitude is in there
 *     "tkb.reciprocal-of"="1"   a constant; its product with parameter 1 (the
 *                               first is 0) is no further from 1 than 2^-12
 *
 * A multiplication by a parameter that is a constant matches what LLVM makes of
 * it, too: a shift to the left, and where the constant is 1, nothing.
 *
 * Flags: those of the pattern must be there, others may. nsw, nuw, exact and
 * their like, nnan and ninf tell of values that a program never has there. The
 * other fast-math flags allow other rounding; with them a `fast` rule says what
 * it needs, at each fadd, fsub, fmul, fdiv and frem, and an `exact` rule has
 * none. A replacement has no flags at all: it would be poison where the pattern
 * is not. Its floating-point instructions take the fast-math flags that all
 * matched ones have, but nnan and ninf.
 *
 * Ways to write a thing are functions NAME.either.ANY of one type. Where a
 * pattern calls the declared NAME, one of them must match, and the rule must be
 * right with each:
 *
 *     declare i32 @low(i32)
 *     define i32 @low.either.and(i32 %x) { ... }
 *     define i32 @low.either.ext(i32 %x) { ... }
 *
 * A `bitcast` of a parameter in a pattern matches every value of its type: the
 * parameter is then that value's bits. In an extractelement, it matches a part
 * of a longer vector, too.
 *
 * Loads: a pattern may have some, neither volatile nor atomic, of at least that
 * alignment. No store, call that writes, fence or barrier may stand between
 * them and the root. A load in the replacement is the pattern's load of the
 * same type by the same parameter; there is no other. Calls: of functions that
 * are declared `memory(none) nounwind willreturn` and not convergent.
 *
 * Where an inner value has other users, it stays, and the replacement must then
 * cost no more than what goes away: an instruction counts its lanes; what only
 * moves bits (bitcast, freeze, elements and shuffles) is free.
 */

#include <tkbundle/tkbundle.h>

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "base/buf.h"

enum {
	RULE_MAX_PARAMETERS = 32,
	RULE_MAX_NODES = 1024, /* of one pattern, all ways counted */
	RULE_MAX_TERMS = 128   /* that a sum is taken apart into */
};

/* What a parameter must be. Zeroed is anything. */
struct rule_filter {
	bool is_set; /* it is one at all */
	bool is_constant;
	bool is_power_of_two;
	bool has_range;
	bool has_magnitude;
	bool is_reciprocal;
	int64_t low, high;
	double least, most;
	uint32_t reciprocal_of;
};

enum rule_node_kind {
	RULE_PARAMETER,
	RULE_CONSTANT,
	RULE_INSTRUCTION,
	RULE_EITHER /* its operands are ways to write it */
};

/* A value of a pattern. */
struct rule_node {
	enum rule_node_kind kind;
	LLVMValueRef value; /* in the rule's module */
	LLVMOpcode opcode;  /* of an instruction */
	uint32_t parameter; /* which one */
	uint32_t edges;     /* where its operands begin in rule->edges */
	uint32_t edge_count;
	bool is_commutative;
	bool is_index; /* a constant of which only the number counts */
};

struct rule {
	const char *name; /* without ".pattern" */
	const char *file;
	bool is_fast;
	bool is_sum; /* "tkb.terms" */
	uint32_t arch;
	LLVMValueRef pattern;
	LLVMValueRef replacement;
	struct rule_node *nodes; /* operands before those that use them */
	uint32_t node_count;
	uint32_t *edges;
	uint32_t edge_count;
	uint32_t root;
	uint32_t parameters[RULE_MAX_PARAMETERS]; /* their nodes */
	uint32_t parameter_count;
	struct rule_filter filters[RULE_MAX_PARAMETERS];
	uint32_t *terms; /* nodes, of a sum */
	uint32_t term_count;
	uint32_t rest; /* the parameter that takes what is left of a sum */
};

struct rule_set {
	struct tkb_arena arena;
	struct rule **rules;
	size_t count;
	size_t capacity;
	LLVMModuleRef *modules; /* what they were read from; owned */
	size_t module_count;
	size_t module_capacity;
};

/* Does `name` end with `tail`, behind something? */
bool rule_has_tail(const char *name, const char *tail);

/* A value's name, or "". */
const char *rule_value_name(LLVMValueRef value);

/* `rule '<name>' of '<file>': ` and the reason; TKB_ERR_INVALID. */
__attribute__((format(printf, 3, 4))) int rule_refuse(const struct rule *rule,
                                                      struct tkb_error *err,
                                                      const char *format, ...);

/* Read the attributes: what a rule is, and its filters. */
TKB_NODISCARD int rule_read_tags(struct rule *rule, struct tkb_error *err);

/* Is each half of a rule made of what rules may be made of? */
TKB_NODISCARD int rule_check(const struct rule *rule, LLVMModuleRef module,
                             struct tkb_error *err);

/* The same of a function that is one way of several. */
TKB_NODISCARD int rule_check_way(const struct rule *rule, LLVMValueRef function,
                                 struct tkb_error *err);

/* Does a module say in several ways what `name` is? */
bool rule_has_ways(LLVMModuleRef module, const char *name);

/* The function after `at` that is a way of `name`; the first one after NULL. */
LLVMValueRef rule_next_way(LLVMModuleRef module, const char *name,
                           LLVMValueRef at);

/* Make the nodes of a rule's pattern. */
TKB_NODISCARD int rule_compile(struct rule *rule, LLVMModuleRef module,
                               struct tkb_arena *arena, struct tkb_error *err);

/* A constant number, or a vector of such: all of it defined. */
bool rule_is_number(LLVMValueRef value);

/* Is `value` what parameter `index` asks for? */
bool rule_filter_takes(const struct rule_filter *filter, LLVMValueRef value);

/* Do two filters ask for the same? */
bool rule_filter_equals(const struct rule_filter *a,
                        const struct rule_filter *b);

/* Are two constants each other's reciprocal, as far as rules ask? */
bool rule_is_reciprocal(LLVMValueRef a, LLVMValueRef b);

/*
 * What of an instruction makes poison: nsw, nuw, exact, nneg, disjoint,
 * samesign, inbounds and their like, as bits.
 */
uint32_t rule_poison_flags(LLVMValueRef instruction);

/* Its fast-math flags; 0 where it has none. */
LLVMFastMathFlags rule_fast_math(LLVMValueRef instruction);

/*
 * The terms of the sum at `root`: operands of its additions that are no
 * addition of the same block with one use. A root that is no addition is one
 * term. Of n terms there are n - 1 additions, the root first.
 */
size_t rule_flatten(LLVMValueRef root, LLVMValueRef terms[RULE_MAX_TERMS],
                    LLVMValueRef additions[RULE_MAX_TERMS]);

/* Is it an addition that only another one of its block uses? */
bool rule_is_part_of_sum(LLVMValueRef value);

#endif
