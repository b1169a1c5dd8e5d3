/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite/rule.h"

static bool is_binary(LLVMOpcode opcode)
{
	return opcode >= LLVMAdd && opcode <= LLVMXor;
}

static bool is_cast(LLVMOpcode opcode)
{
	return (opcode >= LLVMTrunc && opcode <= LLVMBitCast) ||
	       opcode == LLVMAddrSpaceCast;
}

/* Is it an instruction without side effects? */
static bool is_pure(LLVMOpcode opcode)
{
	switch ((int)opcode) {
	case LLVMFNeg:
	case LLVMICmp:
	case LLVMFCmp:
	case LLVMSelect:
	case LLVMExtractElement:
	case LLVMInsertElement:
	case LLVMShuffleVector:
	case LLVMExtractValue:
	case LLVMInsertValue:
	case LLVMGetElementPtr:
	case LLVMFreeze:
		return true;
	default:
		return is_binary(opcode) || is_cast(opcode);
	}
}

/* Is it a function without side effects that returns? */
static bool is_pure_function(LLVMValueRef function)
{
	return llvm_only_computes(function) &&
	       !llvm_has_attribute(function, "convergent");
}

static int check_call(const struct rule *rule, LLVMModuleRef module,
                      LLVMValueRef call, struct tkb_error *err)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const char *name;

	if (LLVMIsAFunction(callee) == NULL ||
	    LLVMGetNumOperandBundles(call) > 0 ||
	    LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(callee))
		return rule_fail(rule, err,
		                 "it does not call a plain function");
	name = llvm_name(callee);
	if (module != NULL && rule_has_alternatives(module, name))
		return 0;
	if (!LLVMIsDeclaration(callee))
		return rule_fail(rule, err,
		                 "it calls '%s', which the file defines", name);
	if (!is_pure_function(callee))
		return rule_fail(rule, err,
		                 "it calls '%s', which is not declared "
		                 "memory(none) nounwind willreturn",
		                 name);
	return 0;
}

/* May the operand be poison? Only where a vector is built. */
static bool may_be_poison(LLVMOpcode opcode, unsigned index)
{
	return (opcode == LLVMInsertElement && index == 0) ||
	       (opcode == LLVMShuffleVector && index == 1);
}

static int check_operands(const struct rule *rule, LLVMValueRef instruction,
                          LLVMOpcode opcode, struct tkb_error *err)
{
	const int count = LLVMGetNumOperands(instruction);

	for (int i = 0; i < count; i++) {
		LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);

		if (opcode == LLVMCall && i == count - 1)
			break; /* the callee */
		if (LLVMIsAInstruction(operand) != NULL ||
		    LLVMIsAArgument(operand) != NULL)
			continue;
		if (!LLVMIsConstant(operand) ||
		    LLVMIsAGlobalValue(operand) != NULL ||
		    LLVMIsAConstantExpr(operand) != NULL)
			return rule_fail(rule, err,
			                 "it has an operand that is not a "
			                 "value, parameter or number");
		if (LLVMIsUndef(operand) && !may_be_poison(opcode, (unsigned)i))
			return rule_fail(rule, err,
			                 "it has an operand that is undef "
			                 "or poison");
	}
	return 0;
}

static int check_instruction(const struct rule *rule, LLVMModuleRef module,
                             LLVMValueRef instruction, struct tkb_error *err)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	int rc = 0;

	if (opcode == LLVMRet)
		return check_operands(rule, instruction, opcode, err);
	if (LLVMHasMetadata(instruction))
		return rule_fail(rule, err,
		                 "it has an instruction with metadata");
	if (LLVMGetFirstUse(instruction) == NULL)
		return rule_fail(rule, err,
		                 "it has an instruction that its result does "
		                 "not depend on");
	if (opcode == LLVMCall)
		rc = check_call(rule, module, instruction, err);
	else if (opcode == LLVMLoad && !llvm_is_plain(instruction))
		rc = rule_fail(rule, err,
		               "it has a load that is volatile or atomic");
	else if (opcode != LLVMLoad && !is_pure(opcode))
		rc = rule_fail(rule, err,
		               "it has an instruction with effects, or one "
		               "that rules may not have");
	return rc < 0 ? rc : check_operands(rule, instruction, opcode, err);
}

/* Check that there is one block of allowed instructions that ends in `ret`. */
static int check_body(const struct rule *rule, LLVMModuleRef module,
                      LLVMValueRef function, struct tkb_error *err)
{
	LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	if (LLVMGetNextBasicBlock(block) != NULL)
		return rule_fail(rule, err, "'%s' has several blocks",
		                 llvm_name(function));
	if (LLVMGetInstructionOpcode(end) != LLVMRet ||
	    LLVMGetNumOperands(end) != 1)
		return rule_fail(rule, err, "'%s' returns nothing",
		                 llvm_name(function));
	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		const int rc = check_instruction(rule, module, at, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Check that all parameters are used, and the root is an instruction. */
static int check_shape(const struct rule *rule, LLVMValueRef function,
                       struct tkb_error *err)
{
	const unsigned count = LLVMCountParams(function);

	if (LLVMIsAInstruction(rule_root(function)) == NULL)
		return rule_fail(rule, err, "'%s' has no instruction",
		                 llvm_name(function));
	for (unsigned i = 0; i < count; i++) {
		if (LLVMGetFirstUse(LLVMGetParam(function, i)) == NULL)
			return rule_fail(rule, err,
			                 "'%s' does not use parameter %u",
			                 llvm_name(function), i);
	}
	return 0;
}

static bool is_float_arithmetic(LLVMOpcode opcode)
{
	return opcode == LLVMFAdd || opcode == LLVMFSub || opcode == LLVMFMul ||
	       opcode == LLVMFDiv || opcode == LLVMFRem;
}

/* Flags that allow other rounding must be on all arithmetic, or on none. */
static int check_rounding(const struct rule *rule, LLVMValueRef function,
                          struct tkb_error *err)
{
	const LLVMFastMathFlags poison =
		LLVMFastMathNoNaNs | LLVMFastMathNoInfs;

	for (LLVMValueRef at = rule_first(function); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		const LLVMFastMathFlags flags = rule_fast_math(at);

		if (!rule->is_fast && (flags & ~poison) != 0)
			return rule_fail(rule, err,
			                 "it is exact, and its pattern has "
			                 "flags that allow other rounding");
		if (rule->is_fast &&
		    is_float_arithmetic(LLVMGetInstructionOpcode(at)) &&
		    (flags & ~poison) == 0)
			return rule_fail(rule, err,
			                 "it is fast, and its pattern has "
			                 "floating-point arithmetic without "
			                 "flags that allow other rounding");
	}
	return 0;
}

/* Does the pattern have the load that the replacement refers to? */
static bool has_load(const struct rule *rule, LLVMValueRef load)
{
	LLVMValueRef pointer = LLVMGetOperand(load, 0);

	if (LLVMIsAArgument(pointer) == NULL)
		return false;
	for (LLVMValueRef at = rule_first(rule->pattern); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		if (LLVMGetInstructionOpcode(at) != LLVMLoad ||
		    LLVMTypeOf(at) != LLVMTypeOf(load))
			continue;
		for (uint32_t i = 0; i < rule->parameter_count; i++) {
			if (LLVMGetParam(rule->replacement, i) == pointer &&
			    LLVMGetParam(rule->pattern, i) ==
			            LLVMGetOperand(at, 0))
				return true;
		}
	}
	return false;
}

/* Is it safe? By 0 or -1 it may be undefined where the pattern is defined. */
static bool is_safe_division(LLVMValueRef instruction, LLVMOpcode opcode)
{
	LLVMValueRef by;
	uint64_t number;

	if (opcode != LLVMUDiv && opcode != LLVMSDiv && opcode != LLVMURem &&
	    opcode != LLVMSRem)
		return true;
	by = LLVMGetOperand(instruction, 1);
	return llvm_read_number(by, &number) && number != 0 &&
	       LLVMConstIntGetSExtValue(by) != -1;
}

static int check_replacement(const struct rule *rule, struct tkb_error *err)
{
	for (LLVMValueRef at = rule_first(rule->replacement); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);

		if (rule_poison_flags(at) != 0 || rule_fast_math(at) != 0)
			return rule_fail(rule, err,
			                 "its replacement has flags (nsw, "
			                 "inbounds, fast and so on)");
		if (opcode == LLVMLoad && !has_load(rule, at))
			return rule_fail(rule, err,
			                 "its replacement has a load that "
			                 "its pattern does not have");
		if (!is_safe_division(at, opcode))
			return rule_fail(rule, err,
			                 "its replacement divides by a value "
			                 "that may be 0 or -1");
	}
	return 0;
}

int rule_check_alternative(const struct rule *rule, LLVMValueRef function,
                           struct tkb_error *err)
{
	int rc;

	rc = check_body(rule, NULL, function, err);
	if (rc == 0)
		rc = check_shape(rule, function, err);
	return rc < 0 ? rc : check_rounding(rule, function, err);
}

int rule_check(const struct rule *rule, LLVMModuleRef module,
               struct tkb_error *err)
{
	int rc;

	if (LLVMGlobalGetValueType(rule->pattern) !=
	    LLVMGlobalGetValueType(rule->replacement))
		return rule_fail(rule, err,
		                 "its pattern and its replacement have "
		                 "different types");
	if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(rule->pattern)))
		return rule_fail(rule, err, "it takes any number of arguments");
	rc = check_body(rule, module, rule->pattern, err);
	if (rc == 0)
		rc = check_body(rule, NULL, rule->replacement, err);
	if (rc == 0)
		rc = check_shape(rule, rule->pattern, err);
	if (rc == 0)
		rc = check_rounding(rule, rule->pattern, err);
	return rc < 0 ? rc : check_replacement(rule, err);
}
