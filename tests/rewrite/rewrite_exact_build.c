/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_exact.h"

#include <math.h>

#include <llvm-c/ExecutionEngine.h>

/* What a GPU computes, as its manual says. */

static int32_t byte_of(int32_t word, int index, bool is_signed)
{
	const uint32_t byte = ((uint32_t)word >> (8 * index)) & 255;

	return is_signed && byte > 127 ? (int32_t)byte - 256 : (int32_t)byte;
}

static int32_t dp4a(int32_t a, int32_t b, int32_t c, bool a_signed,
                    bool b_signed)
{
	uint32_t sum = (uint32_t)c;

	for (int i = 0; i < 4; i++)
		sum += (uint32_t)(byte_of(a, i, a_signed) *
		                  byte_of(b, i, b_signed));
	return (int32_t)sum;
}

static int32_t dp4a_ss(int32_t a, int32_t b, int32_t c)
{
	return dp4a(a, b, c, true, true);
}

static int32_t dp4a_su(int32_t a, int32_t b, int32_t c)
{
	return dp4a(a, b, c, true, false);
}

static int32_t dp4a_us(int32_t a, int32_t b, int32_t c)
{
	return dp4a(a, b, c, false, true);
}

static int32_t dp4a_uu(int32_t a, int32_t b, int32_t c)
{
	return dp4a(a, b, c, false, false);
}

/* It may be off by two units in the last place: here it is, by any of them. */
static float divide_full(float a, float b)
{
	float quotient = a / b;
	uint32_t bits = 0;

	memcpy(&bits, &a, sizeof(bits));
	for (uint32_t i = (bits * 2654435761U) >> 30; i > 0; i--)
		quotient = nextafterf(quotient, bits & 1 ? INFINITY : 0);
	return quotient;
}

static int32_t norm(int32_t a, int32_t b, int32_t rest)
{
	return (int32_t)((uint32_t)a * (uint32_t)a + (uint32_t)b * (uint32_t)b +
	                 (uint32_t)rest);
}

typedef void (*any_function)(void);

static const struct {
	const char *name;
	any_function function;
} externals[] = {
	{ "llvm.nvvm.idp4a.s.s", (any_function)dp4a_ss },
	{ "llvm.nvvm.idp4a.s.u", (any_function)dp4a_su },
	{ "llvm.nvvm.idp4a.u.s", (any_function)dp4a_us },
	{ "llvm.nvvm.idp4a.u.u", (any_function)dp4a_uu },
	{ "llvm.nvvm.div.full", (any_function)divide_full },
	{ "llvm.nvvm.div.full.ftz", (any_function)divide_full },
	{ "llvm.nvvm.round.f", (any_function)rintf },
	{ "llvm.nvvm.round.ftz.f", (any_function)rintf },
	{ "llvm.nvvm.fmin.f", (any_function)fminf },
	{ "llvm.nvvm.fmax.f", (any_function)fmaxf },
	{ "__nv_rintf", (any_function)rintf },
	{ "__nv_nearbyintf", (any_function)nearbyintf },
	{ "norm", (any_function)norm },
};

/* Under another name: LLVM would look for the intrinsic on this processor. */
static const char *other_name(const char *name)
{
	return text("here.%s", name);
}

static void replace_externals(LLVMModuleRef module)
{
	for (size_t i = 0; i < TKB_COUNT_OF(externals); i++) {
		LLVMValueRef old =
			LLVMGetNamedFunction(module, externals[i].name);

		if (old == NULL)
			continue;
		LLVMReplaceAllUsesWith(
			old,
			LLVMAddFunction(module, other_name(externals[i].name),
		                        LLVMGlobalGetValueType(old)));
	}
}

void rewrite_map(void *engine, LLVMModuleRef module)
{
	for (size_t i = 0; i < TKB_COUNT_OF(externals); i++) {
		LLVMValueRef function = LLVMGetNamedFunction(
			module, other_name(externals[i].name));
		void *address = NULL;

		memcpy(&address, &externals[i].function, sizeof(address));
		if (function != NULL)
			LLVMAddGlobalMapping(engine, function, address);
	}
}

/* The body of a function with several ways: any of them, by a counter. */
static void build_ways(LLVMModuleRef module, LLVMValueRef function,
                       LLVMValueRef counter, unsigned count)
{
	const char *name = llvm_name(function);
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef word = LLVMInt32TypeInContext(context);
	AUTO_LLVM(LLVMBuilderRef)
	builder = LLVMCreateBuilderInContext(context);
	LLVMBasicBlockRef entry =
		LLVMAppendBasicBlockInContext(context, function, "");
	LLVMValueRef arguments[RULE_MAX_PARAMETERS];
	LLVMValueRef way = NULL;
	LLVMValueRef pick;
	LLVMValueRef chosen = NULL;

	LLVMPositionBuilderAtEnd(builder, entry);
	pick = LLVMBuildLoad2(builder, word, counter, "");
	pick = LLVMBuildMul(builder, pick, LLVMConstInt(word, 1664525, false),
	                    "");
	pick = LLVMBuildAdd(builder, pick,
	                    LLVMConstInt(word, 1013904223, false), "");
	LLVMBuildStore(builder, pick, counter);
	pick = LLVMBuildLShr(builder, pick, LLVMConstInt(word, 16, false), "");
	pick = LLVMBuildURem(builder, pick, LLVMConstInt(word, count, false),
	                     "");
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		arguments[i] = LLVMGetParam(function, i);
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef result;

		way = rule_next_alternative(module, name, way);
		result = LLVMBuildCall2(builder, LLVMGlobalGetValueType(way),
		                        way, arguments,
		                        LLVMCountParams(function), "");
		chosen = i == 0 ? result
		                : LLVMBuildSelect(
					  builder,
					  LLVMBuildICmp(
						  builder, LLVMIntEQ, pick,
						  LLVMConstInt(word, i, false),
						  ""),
					  result, chosen, "");
	}
	LLVMBuildRet(builder, chosen);
}

void rewrite_complete(LLVMModuleRef module)
{
	LLVMTypeRef word = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	LLVMValueRef counter = LLVMAddGlobal(module, word, "counter");

	LLVMSetInitializer(counter, LLVMConstNull(word));
	replace_externals(module);
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		unsigned count = 0;

		if (!LLVMIsDeclaration(at))
			continue;
		for (LLVMValueRef way =
		             rule_next_alternative(module, llvm_name(at), NULL);
		     way != NULL;
		     way = rule_next_alternative(module, llvm_name(at), way))
			count++;
		if (count > 0)
			build_ways(module, at, counter, count);
	}
}

/* ok = ok and not is_bad */
static void build_check(LLVMBuilderRef builder, LLVMValueRef ok,
                        LLVMValueRef is_bad)
{
	LLVMTypeRef word =
		LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(ok)));
	LLVMValueRef old = LLVMBuildLoad2(builder, word, ok, "");

	LLVMBuildStore(
		builder,
		LLVMBuildSelect(builder, is_bad, LLVMConstNull(word), old, ""),
		ok);
}

/* Does undoing it give something else? Then it lost bits. */
static LLVMValueRef build_wraps(LLVMBuilderRef builder, LLVMValueRef at,
                                bool is_signed)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);
	LLVMTypeRef type = LLVMTypeOf(at);
	LLVMTypeRef wide = LLVMIntTypeInContext(LLVMGetTypeContext(type),
	                                        2 * LLVMGetIntTypeWidth(type));
	LLVMValueRef operands[2];
	LLVMValueRef result;

	for (unsigned i = 0; i < 2; i++)
		operands[i] = LLVMBuildIntCast2(builder, LLVMGetOperand(at, i),
		                                wide, is_signed, "");
	result = LLVMBuildBinOp(builder, opcode, operands[0], operands[1], "");
	return LLVMBuildICmp(
		builder, LLVMIntNE, result,
		LLVMBuildIntCast2(builder,
	                          LLVMBuildTrunc(builder, result, type, ""),
	                          wide, is_signed, ""),
		"");
}

static void instrument_flags(LLVMBuilderRef builder, LLVMValueRef at,
                             LLVMValueRef ok)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);
	LLVMTypeRef type = LLVMTypeOf(at);

	if (rule_poison_flags(at) == 0)
		return;
	if (opcode == LLVMLShr) {
		LLVMValueRef back =
			LLVMBuildLShr(builder, LLVMGetOperand(at, 0),
		                      LLVMGetOperand(at, 1), "");

		back = LLVMBuildShl(builder, back, LLVMGetOperand(at, 1), "");
		build_check(builder, ok,
		            LLVMBuildICmp(builder, LLVMIntNE, back,
		                          LLVMGetOperand(at, 0), ""));
		LLVMSetExact(at, false);
		return;
	}
	if (opcode != LLVMAdd && opcode != LLVMSub && opcode != LLVMMul)
		fail_msg("no test knows this instruction's flags");
	CHECK_INT(LLVMGetTypeKind(type), LLVMIntegerTypeKind);
	if (LLVMGetNSW(at))
		build_check(builder, ok, build_wraps(builder, at, true));
	if (LLVMGetNUW(at))
		build_check(builder, ok, build_wraps(builder, at, false));
	LLVMSetNSW(at, false);
	LLVMSetNUW(at, false);
}

/* A division that traps here is undefined there: divide by 1 instead. */
static void instrument_division(LLVMBuilderRef builder, LLVMValueRef at,
                                LLVMValueRef ok)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);
	const bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
	LLVMTypeRef type = LLVMTypeOf(at);
	LLVMValueRef by = LLVMGetOperand(at, 1);
	LLVMValueRef is_bad;

	if (!is_signed && opcode != LLVMUDiv && opcode != LLVMURem)
		return;
	is_bad = LLVMBuildICmp(builder, LLVMIntEQ, by, LLVMConstNull(type), "");
	if (is_signed) {
		LLVMValueRef least = LLVMBuildShl(
			builder, LLVMConstInt(type, 1, false),
			LLVMConstInt(type, LLVMGetIntTypeWidth(type) - 1,
		                     false),
			"");
		LLVMValueRef wraps = LLVMBuildAnd(
			builder,
			LLVMBuildICmp(builder, LLVMIntEQ, by,
		                      LLVMConstAllOnes(type), ""),
			LLVMBuildICmp(builder, LLVMIntEQ, LLVMGetOperand(at, 0),
		                      least, ""),
			"");

		is_bad = LLVMBuildOr(builder, is_bad, wraps, "");
	}
	build_check(builder, ok, is_bad);
	LLVMSetOperand(at, 1,
	               LLVMBuildSelect(builder, is_bad,
	                               LLVMConstInt(type, 1, false), by, ""));
}

/* nnan and ninf, of operands; of results where they are numbers. */
static void instrument_math(LLVMBuilderRef builder, LLVMValueRef at,
                            LLVMValueRef ok)
{
	const LLVMFastMathFlags flags = rule_fast_math(at);

	if (flags == 0)
		return;
	CHECK_INT(flags, LLVMFastMathNoNaNs);
	CHECK_INT(LLVMGetInstructionOpcode(at), LLVMFCmp);
	for (unsigned i = 0; i < 2; i++)
		build_check(builder, ok,
		            LLVMBuildFCmp(builder, LLVMRealUNO,
		                          LLVMGetOperand(at, i),
		                          LLVMGetOperand(at, i), ""));
	LLVMSetFastMathFlags(at, LLVMFastMathNone);
}

/* What has flags that no exact rule may have is of a fast one. */
static bool is_of_fast_rule(LLVMValueRef function)
{
	const LLVMFastMathFlags poison =
		LLVMFastMathNoNaNs | LLVMFastMathNoInfs;

	for (LLVMValueRef at =
	             LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(function));
	     at != NULL; at = LLVMGetNextInstruction(at)) {
		if ((rule_fast_math(at) & ~poison) != 0)
			return true;
	}
	return false;
}

void rewrite_instrument(LLVMModuleRef module, LLVMValueRef ok)
{
	AUTO_LLVM(LLVMBuilderRef)
	builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

	for (LLVMValueRef function = LLVMGetFirstFunction(module);
	     function != NULL; function = LLVMGetNextFunction(function)) {
		if (LLVMIsDeclaration(function) || is_of_fast_rule(function))
			continue;
		for (LLVMValueRef at = LLVMGetFirstInstruction(
			     LLVMGetFirstBasicBlock(function));
		     at != NULL; at = LLVMGetNextInstruction(at)) {
			if (LLVMGetInstructionOpcode(at) == LLVMRet)
				break;
			LLVMPositionBuilderBefore(builder, at);
			instrument_division(builder, at, ok);
			instrument_flags(builder, at, ok);
			instrument_math(builder, at, ok);
		}
	}
}
