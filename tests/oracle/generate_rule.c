/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"

#include <math.h>

#include "llvm/llvm_module.h"

/*
 * A kernel around the pattern of a rule: its parameters are read from memory, or
 * are constants where the rule asks for such, its result is stored. Of several
 * ways to write a thing it has any.
 */

struct around {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMValueRef kernel;
	const struct rule *rule;
	LLVMValueRef arguments[RULE_MAX_PARAMETERS];
	uint64_t state;
};

static double draw_between(struct around *around, double low, double high)
{
	const double at = (double)(rewrite_draw(&around->state) % 1001) / 1000;

	return low <= 0 ? high * at : low * pow(high / low, at);
}

static LLVMValueRef constant_float(struct around *around, uint32_t index,
                                   LLVMTypeRef type)
{
	const struct rule_filter *filter = &around->rule->filters[index];
	const bool is_negative = rewrite_draw(&around->state) % 2 != 0;
	LLVMBool is_inexact = false;
	double value = draw_between(around, 0, 100);

	if (filter->has_magnitude)
		value = draw_between(around, fmax(filter->least, 1e-6),
		                     fmin(filter->most, 1e6));
	if (is_negative)
		value = -value;
	if (filter->is_reciprocal)
		value = 1 / LLVMConstRealGetDouble(
				    around->arguments[filter->reciprocal_of],
				    &is_inexact);
	return LLVMConstReal(type, (double)(float)value);
}

static LLVMValueRef constant_integer(struct around *around, uint32_t index,
                                     LLVMTypeRef type)
{
	const struct rule_filter *filter = &around->rule->filters[index];
	const unsigned width = LLVMGetIntTypeWidth(type);
	uint64_t value = rewrite_draw(&around->state);

	if (filter->is_power_of_two)
		value = UINT64_C(1) << value % width;
	else if (filter->has_range && filter->high < INT64_MAX)
		value = (uint64_t)filter->low +
		        value % ((uint64_t)filter->high -
		                 (uint64_t)filter->low + 1);
	else if (filter->has_range)
		value %= 100;
	return LLVMConstInt(type, value, true);
}

static LLVMValueRef constant(struct around *around, uint32_t index,
                             LLVMTypeRef type)
{
	LLVMValueRef lanes[64];

	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		const unsigned count = LLVMGetVectorSize(type);

		for (unsigned i = 0; i < count; i++)
			lanes[i] = constant(around, index,
			                    LLVMGetElementType(type));
		return LLVMConstVector(lanes, count);
	}
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
	               ? constant_integer(around, index, type)
	               : constant_float(around, index, type);
}

static LLVMValueRef address(struct around *around, unsigned pointer,
                            uint64_t offset)
{
	LLVMValueRef number = LLVMConstInt(
		LLVMInt64TypeInContext(around->context), offset, false);

	return LLVMBuildGEP2(
		around->builder, LLVMInt8TypeInContext(around->context),
		LLVMGetParam(around->kernel, pointer), &number, 1, "");
}

static LLVMValueRef read_value(struct around *around, uint32_t index,
                               LLVMTypeRef type)
{
	const struct rule_filter *filter = &around->rule->filters[index];
	LLVMTypeRef read = type;
	LLVMValueRef value;
	int64_t mask = 255;

	/* A byte, extended, is known to be small. */
	if (filter->has_range && LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
		read = LLVMInt8TypeInContext(around->context);
	value = LLVMBuildLoad2(
		around->builder, read,
		address(around, index % 2, rewrite_draw(&around->state) % 128),
		"");
	LLVMSetAlignment(value, 1);
	if (read == type)
		return value;
	if (filter->low <= -128 && filter->high >= 127)
		return LLVMBuildSExt(around->builder, value, type, "");
	while (mask > filter->high)
		mask /= 2;
	return LLVMBuildAnd(around->builder,
	                    LLVMBuildZExt(around->builder, value, type, ""),
	                    LLVMConstInt(type, (uint64_t)mask, false), "");
}

static void find_arguments(struct around *around)
{
	const struct rule *rule = around->rule;

	for (uint32_t i = 0; i < rule->parameter_count; i++) {
		const struct rule_filter *filter = &rule->filters[i];
		LLVMTypeRef type =
			LLVMTypeOf(LLVMGetParam(rule->replacement, i));

		if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
			around->arguments[i] = address(around, i % 2, 4 * i);
		else if (filter->is_constant || filter->is_power_of_two ||
		         filter->has_magnitude || filter->is_reciprocal)
			around->arguments[i] = constant(around, i, type);
		else
			around->arguments[i] = read_value(around, i, type);
	}
}

enum {
	VALUE_LIMIT = 1024 /* of a pattern */
};

/* What the values of a function became in the kernel. */
struct copies {
	LLVMValueRef from[VALUE_LIMIT];
	LLVMValueRef to[VALUE_LIMIT];
	size_t count;
};

static void add_copy(struct copies *copies, LLVMValueRef from, LLVMValueRef to)
{
	CHECK(copies->count < VALUE_LIMIT);
	copies->from[copies->count] = from;
	copies->to[copies->count++] = to;
}

static LLVMValueRef find_copy(const struct copies *copies, LLVMValueRef value)
{
	for (size_t i = 0; i < copies->count; i++) {
		if (copies->from[i] == value)
			return copies->to[i];
	}
	return value; /* a constant, or a function */
}

/* Any of the ways to write what is called, or NULL. */
static LLVMValueRef choose_way(struct around *around, LLVMValueRef call)
{
	const char *name = llvm_name(LLVMGetCalledValue(call));
	LLVMValueRef chosen = NULL;
	LLVMValueRef way = rule_next_alternative(around->module, name, NULL);

	for (uint64_t count = 1; way != NULL; count++) {
		if (rewrite_draw(&around->state) % count == 0)
			chosen = way;
		way = rule_next_alternative(around->module, name, way);
	}
	return chosen;
}

static LLVMValueRef expand(struct around *around, LLVMValueRef function,
                           const LLVMValueRef *arguments);

/* As it stands: LLVM's own inlining would simplify it. */
static LLVMValueRef copy_instruction(struct around *around, LLVMValueRef at,
                                     const struct copies *copies)
{
	const unsigned count = (unsigned)LLVMGetNumOperands(at);
	LLVMValueRef way =
		LLVMIsACallInst(at) != NULL ? choose_way(around, at) : NULL;
	LLVMValueRef operands[RULE_MAX_PARAMETERS + 1];
	LLVMValueRef copy;

	CHECK(count <= TKB_COUNT_OF(operands));
	for (unsigned i = 0; i < count; i++)
		operands[i] = find_copy(copies, LLVMGetOperand(at, i));
	if (way != NULL)
		return expand(around, way, operands);
	copy = LLVMInstructionClone(at);
	for (unsigned i = 0; i < count; i++)
		LLVMSetOperand(copy, i, operands[i]);
	LLVMInsertIntoBuilder(around->builder, copy);
	return copy;
}

/* What a function of one block computes of its arguments. */
static LLVMValueRef expand(struct around *around, LLVMValueRef function,
                           const LLVMValueRef *arguments)
{
	struct copies *copies = test_alloc(sizeof(*copies));
	LLVMValueRef at =
		LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(function));

	copies->count = 0;
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		add_copy(copies, LLVMGetParam(function, i), arguments[i]);
	for (; LLVMGetInstructionOpcode(at) != LLVMRet;
	     at = LLVMGetNextInstruction(at))
		add_copy(copies, at, copy_instruction(around, at, copies));
	return find_copy(copies, LLVMGetOperand(at, 0));
}

/* The rules' own functions are not looked at. */
static void make_internal(LLVMModuleRef module)
{
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		if (!LLVMIsDeclaration(at))
			LLVMSetLinkage(at, LLVMInternalLinkage);
	}
}

static void add_kernel(struct around *around)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(around->context, 0);
	LLVMTypeRef types[] = { pointer,
		                pointer,
		                pointer,
		                pointer,
		                LLVMInt32TypeInContext(around->context),
		                LLVMInt64TypeInContext(around->context) };
	LLVMTypeRef none = LLVMVoidTypeInContext(around->context);

	around->kernel = LLVMAddFunction(
		around->module, "kernel",
		LLVMFunctionType(none, types, TKB_COUNT_OF(types), false));
	LLVMSetFunctionCallConv(around->kernel, 71);
	LLVMPositionBuilderAtEnd(around->builder,
	                         LLVMAppendBasicBlockInContext(
					 around->context, around->kernel, ""));
}

LLVMModuleRef generate_of_rule(const struct rule_set *rules,
                               const struct rule *rule, uint64_t seed)
{
	LLVMModuleRef module = rewrite_clone(rules, rule);
	LLVMContextRef context = LLVMGetModuleContext(module);
	AUTO_LLVM(LLVMBuilderRef) builder = LLVMCreateBuilderInContext(context);
	struct around around = { .module = module,
		                 .context = context,
		                 .builder = builder,
		                 .rule = rule,
		                 .state = seed };
	LLVMValueRef pattern =
		LLVMGetNamedFunction(module, text("%s.pattern", rule->name));
	LLVMValueRef result;

	make_internal(module);
	add_kernel(&around);
	find_arguments(&around);
	result = expand(&around, pattern, around.arguments);
	LLVMSetAlignment(
		LLVMBuildStore(builder, result, address(&around, 2, 4)), 1);
	LLVMBuildRetVoid(builder);
	OK(llvm_run_passes(module, NULL, "globaldce", ERR));
	return module;
}
