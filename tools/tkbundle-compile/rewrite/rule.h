/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_RULE_H
#define TKB_COMPILE_RULE_H

/*
 * The language of rules, and the representation of a rule.
 *
 * A rule file is LLVM IR. The rule NAME consists of two functions of the same
 * type:
 *
 *     define i32 @NAME.pattern(i32 %x, i32 "tkb.constant" %c) #0 { ... }
 *     define i32 @NAME.replacement(i32 %x, i32 %c) { ... }
 *     attributes #0 = { "tkb.rule"="exact" "tkb.arch"=">=61" }
 *
 * Each has one basic block. A pattern matches instructions of one block that
 * compute its result. Its parameters match any value of their type; a parameter
 * that is used twice must be the same value twice. Operands of commutative
 * operations may be swapped. Constants must be equal, except the index of an
 * extractelement or insertelement, of which only the number counts.
 *
 * Attributes of the pattern:
 *
 *     "tkb.rule"="exact"    never changes the result
 *     "tkb.rule"="fast"     changes how it is rounded
 *     "tkb.arch"=">=61"     for sm_61 and later
 *     "tkb.terms"="any"     the root is a chain of integer additions without
 *                           flags: its terms may have any order and be added
 *                           in any way. One term is a bare parameter: the sum
 *                           of the terms that the pattern does not name, or 0.
 *
 * Attributes of the pattern's parameters, called filters:
 *
 *     "tkb.constant"            a constant: numbers, all of them defined
 *     "tkb.power-of-two"        a constant integer with one bit set
 *     "tkb.range"="-128,127"    an integer (in a vector: each) that is known to
 *                               be in this range, ends included
 *     "tkb.non-negative"        a range from 0
 *     "tkb.magnitude"="1e-38,1" a constant whose magnitude is in this range
 *     "tkb.reciprocal-of"="1"   a constant; its product with parameter 1 (the
 *                               first is 0) differs from 1 by at most 2^-12
 *
 * A multiplication by a constant parameter also matches what LLVM makes of it:
 * a left shift, or nothing if the constant is 1.
 *
 * Flags: an instruction must have the pattern's flags, and may have more. nsw,
 * nuw, exact and the like, nnan and ninf say that certain values never occur.
 * The other fast-math flags allow other rounding; a `fast` rule lists those
 * that it needs at each fadd, fsub, fmul, fdiv and frem, and an `exact` rule
 * has none. A replacement has no flags: it would be poison where the pattern is
 * not. Its floating-point instructions get the fast-math flags that all matched
 * ones have, except nnan and ninf.
 *
 * Alternatives are functions NAME.either.ANY of one type. Where a pattern calls
 * the declared NAME, one of them must match, and the rule must be correct with
 * each:
 *
 *     declare i32 @low(i32)
 *     define i32 @low.either.and(i32 %x) { ... }
 *     define i32 @low.either.ext(i32 %x) { ... }
 *
 * A `bitcast` of a parameter in a pattern matches every value of its type: the
 * parameter is bound to that value's bits. In an extractelement, it also
 * matches a part of a longer vector.
 *
 * Loads: a pattern may have loads that are neither volatile nor atomic; a match
 * has at least their alignment. There must be no store, writing call, fence or
 * barrier between a load and the root. A load in the replacement stands for the
 * pattern's load of the same type from the same parameter. Calls: functions
 * that are declared `memory(none) nounwind willreturn` and not convergent.
 *
 * Inner values with other users stay. The replacement must then cost no more
 * than what is removed: an instruction costs its number of lanes; those that
 * only move bits (bitcast, freeze, elements and shuffles) are free.
 */

#include <tkbundle/tkbundle.h>

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "base/buf.h"
#include "llvm/llvm_values.h"

enum {
	RULE_MAX_PARAMETERS = 32,
	RULE_MAX_NODES = 1024, /* nodes of one pattern with all alternatives */
	RULE_MAX_TERMS = 128   /* terms of a flattened sum */
};

/* The filter of a parameter. A zeroed one accepts anything. */
struct rule_filter {
	bool is_set; /* the parameter has filters */
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
	RULE_EITHER /* the operands are alternatives */
};

/* A value of a pattern. */
struct rule_node {
	enum rule_node_kind kind;
	LLVMValueRef value; /* the value in the rule's module */
	LLVMOpcode opcode;  /* of an instruction */
	uint32_t parameter; /* number of the parameter */
	uint32_t edges;     /* index of the first operand in rule->edges */
	uint32_t edge_count;
	bool is_commutative;
	bool is_index; /* a constant index: only its number counts */
};

struct rule {
	const char *name; /* name without ".pattern" */
	const char *file;
	bool is_fast;
	bool is_sum; /* has "tkb.terms" */
	uint32_t arch;
	LLVMValueRef pattern;
	LLVMValueRef replacement;
	struct rule_node *nodes; /* operands come before their users */
	uint32_t node_count;
	uint32_t *edges;
	uint32_t edge_count;
	uint32_t root;
	uint32_t parameters[RULE_MAX_PARAMETERS]; /* nodes of the parameters */
	uint32_t parameter_count;
	struct rule_filter filters[RULE_MAX_PARAMETERS];
	uint32_t *terms; /* the nodes of a sum's terms */
	uint32_t term_count;
	uint32_t rest; /* the parameter for the remaining terms of a sum */
};

struct rule_set {
	struct tkb_arena arena;
	struct rule **rules;
	size_t count;
	size_t capacity;
	LLVMModuleRef *modules; /* owned; the files' modules */
	size_t module_count;
	size_t module_capacity;
};

/* Between the name that is called and that of the alternative. */
#define RULE_ALTERNATIVE ".either."

/* Fail with `rule '<name>' of '<file>': <reason>` and TKB_ERR_INVALID. */
__attribute__((format(printf, 3, 4))) int rule_fail(const struct rule *rule,
                                                    struct tkb_error *err,
                                                    const char *format, ...);

/* Read the attributes: the rule's kind and its filters. */
TKB_NODISCARD int rule_read_tags(struct rule *rule, struct tkb_error *err);

/* The first instruction of a half or an alternative, which has one block. */
static inline LLVMValueRef rule_first(LLVMValueRef function)
{
	return LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(function));
}

/* The number of instructions of a function. */
size_t rule_size(LLVMValueRef function);

/* The value that it returns. */
static inline LLVMValueRef rule_root(LLVMValueRef function)
{
	return LLVMGetOperand(
		LLVMGetBasicBlockTerminator(LLVMGetFirstBasicBlock(function)),
		0);
}

/* Check that both halves contain only what rules may contain. */
TKB_NODISCARD int rule_check(const struct rule *rule, LLVMModuleRef module,
                             struct tkb_error *err);

/* The same for a function that is an alternative. */
TKB_NODISCARD int rule_check_alternative(const struct rule *rule,
                                         LLVMValueRef function,
                                         struct tkb_error *err);

/* True if the module has alternatives for `name`. */
bool rule_has_alternatives(LLVMModuleRef module, const char *name);

/* The next alternative of `name` after `at`; NULL: the first. */
LLVMValueRef rule_next_alternative(LLVMModuleRef module, const char *name,
                                   LLVMValueRef at);

/* Make the nodes of a rule's pattern. */
TKB_NODISCARD int rule_compile(struct rule *rule, LLVMModuleRef module,
                               struct tkb_arena *arena, struct tkb_error *err);

/* True for a constant number, or a vector of them, that is fully defined. */
bool rule_is_number(LLVMValueRef value);

/* True if `value` passes the filter. */
bool rule_filter_takes(const struct rule_filter *filter, LLVMValueRef value);

/* True if two filters are equal. */
bool rule_filter_equals(const struct rule_filter *a,
                        const struct rule_filter *b);

/* True if the product of two constants is close enough to 1. */
bool rule_is_reciprocal(LLVMValueRef a, LLVMValueRef b);

/*
 * The flags of an instruction that can make its result poison, as bits: nsw,
 * nuw, exact, nneg, disjoint, samesign, inbounds and the like.
 */
uint32_t rule_poison_flags(LLVMValueRef instruction);

/* The fast-math flags; 0 if the instruction has none. */
LLVMFastMathFlags rule_fast_math(LLVMValueRef instruction);

/*
 * Flatten the sum at `root`: replaces additions of the same block that have one
 * use by their operands. A root that is not an addition is one term. For n
 * terms there are n - 1 additions, the root first.
 */
size_t rule_flatten(LLVMValueRef root, LLVMValueRef terms[RULE_MAX_TERMS],
                    LLVMValueRef additions[RULE_MAX_TERMS]);

/* True for an addition that only another addition of its block uses. */
bool rule_is_part_of_sum(LLVMValueRef value);

#endif
