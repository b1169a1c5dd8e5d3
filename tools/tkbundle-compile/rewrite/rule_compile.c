/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rule.h"

#include <string.h>

/* A value of the function that is being read, and its node. */
struct name {
	LLVMValueRef value;
	uint32_t node;
};

struct reader {
	struct rule *rule;
	LLVMModuleRef module;
	struct name *names; /* at most one per node */
	size_t name_count;
	size_t scope; /* first name of this function */
};

static const char *const commutative_calls[] = {
	"llvm.fma.",     "llvm.fmuladd.",  "llvm.maximum.",  "llvm.maxnum.",
	"llvm.minimum.", "llvm.minnum.",   "llvm.sadd.sat.", "llvm.smax.",
	"llvm.smin.",    "llvm.uadd.sat.", "llvm.umax.",     "llvm.umin.",
};

/* May the first two operands be swapped? */
static bool is_commutative(LLVMValueRef instruction, LLVMOpcode opcode)
{
	switch ((int)opcode) {
	case LLVMAdd:
	case LLVMFAdd:
	case LLVMMul:
	case LLVMFMul:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMICmp: /* the predicate is swapped, too */
	case LLVMFCmp:
		return true;
	case LLVMCall:
		break;
	default:
		return false;
	}
	return llvm_calls_any(instruction, commutative_calls,
	                      TKB_COUNT_OF(commutative_calls));
}

static int add_node(struct reader *reader, const struct rule_node *node,
                    uint32_t *out, struct tkb_error *err)
{
	struct rule *rule = reader->rule;

	if (rule->node_count == RULE_MAX_NODES)
		return rule_fail(rule, err, "its pattern is too long");
	*out = rule->node_count;
	rule->nodes[rule->node_count++] = *node;
	return 0;
}

static int add_edge(struct reader *reader, uint32_t node, struct tkb_error *err)
{
	struct rule *rule = reader->rule;

	if (rule->edge_count == RULE_MAX_NODES)
		return rule_fail(rule, err, "its pattern is too long");
	rule->edges[rule->edge_count++] = node;
	return 0;
}

static int name_node(struct reader *reader, LLVMValueRef value, uint32_t node,
                     struct tkb_error *err)
{
	if (reader->name_count == RULE_MAX_NODES)
		return rule_fail(reader->rule, err, "its pattern is too long");
	reader->names[reader->name_count++] = (struct name){ value, node };
	return 0;
}

/* The node of a value of this function; those of constants are made here. */
static int find_node(struct reader *reader, LLVMValueRef value, uint32_t *out,
                     struct tkb_error *err)
{
	const struct rule_node constant = { .kind = RULE_CONSTANT,
		                            .value = value };

	for (size_t i = reader->scope; i < reader->name_count; i++) {
		if (reader->names[i].value == value) {
			*out = reader->names[i].node;
			return 0;
		}
	}
	return add_node(reader, &constant, out, err);
}

/* The number of operands, without the callee. */
static unsigned operand_count(LLVMValueRef instruction, LLVMOpcode opcode)
{
	const unsigned count = (unsigned)LLVMGetNumOperands(instruction);

	return opcode == LLVMCall ? count - 1 : count;
}

/* For the index of an element only the number counts, not its type. */
static void mark_index(struct rule *rule, LLVMOpcode opcode, uint32_t operand,
                       unsigned index)
{
	struct rule_node *node = &rule->nodes[operand];

	node->is_index = node->kind == RULE_CONSTANT &&
	                 ((opcode == LLVMExtractElement && index == 1) ||
	                  (opcode == LLVMInsertElement && index == 2));
}

/* Operands first, since their nodes must exist before the edges. */
static int read_instruction(struct reader *reader, LLVMValueRef instruction,
                            uint32_t *out, struct tkb_error *err)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	struct rule_node node = { .kind = RULE_INSTRUCTION,
		                  .value = instruction,
		                  .opcode = opcode,
		                  .edges = reader->rule->edge_count };

	node.edge_count = operand_count(instruction, opcode);
	node.is_commutative = is_commutative(instruction, opcode);
	for (unsigned i = 0; i < node.edge_count; i++) {
		uint32_t operand = 0;
		int rc;

		rc = find_node(reader, LLVMGetOperand(instruction, i), &operand,
		               err);
		if (rc == 0)
			rc = add_edge(reader, operand, err);
		if (rc < 0)
			return rc;
		mark_index(reader->rule, opcode, operand, i);
	}
	return add_node(reader, &node, out, err);
}

/* Add the nodes of one alternative for `call`, and return its root. */
static int read_alternative(struct reader *reader, LLVMValueRef call,
                            LLVMValueRef way, uint32_t *root_out,
                            struct tkb_error *err)
{
	const size_t scope = reader->scope;
	const size_t begin = reader->name_count;
	uint32_t node = 0;
	int rc = 0;

	for (unsigned i = 0; i < LLVMCountParams(way) && rc == 0; i++) {
		rc = find_node(reader, LLVMGetOperand(call, i), &node, err);
		if (rc == 0)
			rc = name_node(reader, LLVMGetParam(way, i), node, err);
	}
	reader->scope = begin;
	for (LLVMValueRef at = rule_first(way);
	     rc == 0 && LLVMGetInstructionOpcode(at) != LLVMRet;
	     at = LLVMGetNextInstruction(at)) {
		rc = read_instruction(reader, at, root_out, err);
		if (rc == 0)
			rc = name_node(reader, at, *root_out, err);
	}
	if (rc == 0)
		rc = find_node(reader, rule_root(way), root_out, err);
	reader->scope = scope;
	reader->name_count = begin;
	return rc;
}

static int read_alternatives(struct reader *reader, LLVMValueRef call,
                             const char *name, uint32_t *out,
                             struct tkb_error *err)
{
	struct rule_node node = { .kind = RULE_EITHER, .value = call };
	uint32_t roots[64] = { 0 };

	for (LLVMValueRef way =
	             rule_next_alternative(reader->module, name, NULL);
	     way != NULL;
	     way = rule_next_alternative(reader->module, name, way)) {
		int rc;

		if (node.edge_count == TKB_COUNT_OF(roots))
			return rule_fail(reader->rule, err,
			                 "'%s' has too many alternatives",
			                 name);
		if (LLVMGlobalGetValueType(way) !=
		    LLVMGetCalledFunctionType(call))
			return rule_fail(reader->rule, err,
			                 "'%s' and '%s' have different types",
			                 llvm_name(way), name);
		rc = rule_check_alternative(reader->rule, way, err);
		if (rc == 0)
			rc = read_alternative(reader, call, way,
			                      &roots[node.edge_count], err);
		if (rc < 0)
			return rc;
		node.edge_count++;
	}
	node.edges = reader->rule->edge_count;
	for (uint32_t i = 0; i < node.edge_count; i++) {
		const int rc = add_edge(reader, roots[i], err);

		if (rc < 0)
			return rc;
	}
	return add_node(reader, &node, out, err);
}

static int read_parameters(struct reader *reader, struct tkb_error *err)
{
	struct rule *rule = reader->rule;

	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		const struct rule_node node = { .kind = RULE_PARAMETER,
			                        .value = LLVMGetParam(
							rule->pattern, i),
			                        .parameter = i };
		int rc;

		rc = add_node(reader, &node, &rule->parameters[i], err);
		if (rc == 0)
			rc = name_node(reader, node.value, rule->parameters[i],
			               err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_body(struct reader *reader, struct tkb_error *err)
{
	for (LLVMValueRef at = rule_first(reader->rule->pattern);
	     LLVMGetInstructionOpcode(at) != LLVMRet;
	     at = LLVMGetNextInstruction(at)) {
		const char *callee = LLVMGetInstructionOpcode(at) == LLVMCall
		                             ? llvm_name(LLVMGetCalledValue(at))
		                             : "";
		uint32_t node = 0;
		int rc;

		if (rule_has_alternatives(reader->module, callee))
			rc = read_alternatives(reader, at, callee, &node, err);
		else
			rc = read_instruction(reader, at, &node, err);
		if (rc == 0)
			rc = name_node(reader, at, node, err);
		if (rc < 0)
			return rc;
	}
	return find_node(reader, rule_root(reader->rule->pattern),
	                 &reader->rule->root, err);
}

/* Is the term the parameter for the rest, which only this addition uses? */
static bool is_rest(const struct rule *rule, LLVMValueRef term)
{
	if (LLVMIsAArgument(term) == NULL ||
	    LLVMGetNextUse(LLVMGetFirstUse(term)) != NULL)
		return false;
	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		if (LLVMGetParam(rule->pattern, i) == term)
			return !rule->filters[i].is_set;
	}
	return false;
}

static int read_sum(struct reader *reader, struct tkb_arena *arena,
                    struct tkb_error *err)
{
	struct rule *rule = reader->rule;
	LLVMValueRef terms[RULE_MAX_TERMS];
	LLVMValueRef additions[RULE_MAX_TERMS];
	const size_t count =
		rule_flatten(rule->nodes[rule->root].value, terms, additions);
	size_t rest_count = 0;

	rule->terms = tkb_arena_alloc(arena, count, sizeof(*rule->terms));
	if (rule->terms == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		uint32_t node = 0;
		const int rc = find_node(reader, terms[i], &node, err);

		if (rc < 0)
			return rc;
		if (is_rest(rule, terms[i])) {
			rest_count++;
			rule->rest = rule->nodes[node].parameter;
		} else {
			rule->terms[rule->term_count++] = node;
		}
	}
	if (rest_count != 1 || rule->term_count == 0)
		return rule_fail(rule, err,
		                 "its pattern is not a sum of terms and one "
		                 "parameter without other uses");
	for (LLVMValueRef at = rule_first(rule->pattern); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		if (LLVMGetInstructionOpcode(at) == LLVMAdd &&
		    rule_poison_flags(at) != 0)
			return rule_fail(rule, err,
			                 "its sum has an addition with "
			                 "flags");
	}
	return 0;
}

int rule_compile(struct rule *rule, LLVMModuleRef module,
                 struct tkb_arena *arena, struct tkb_error *err)
{
	struct reader reader = { .rule = rule, .module = module };
	int rc;

	rule->nodes =
		tkb_arena_alloc(arena, RULE_MAX_NODES, sizeof(*rule->nodes));
	rule->edges =
		tkb_arena_alloc(arena, RULE_MAX_NODES, sizeof(*rule->edges));
	reader.names =
		tkb_arena_alloc(arena, RULE_MAX_NODES, sizeof(*reader.names));
	if (rule->nodes == NULL || rule->edges == NULL || reader.names == NULL)
		return tkb_fail_nomem(err);
	rc = read_parameters(&reader, err);
	if (rc == 0)
		rc = read_body(&reader, err);
	if (rc == 0 && rule->is_sum)
		rc = read_sum(&reader, arena, err);
	return rc;
}
