/* SPDX-License-Identifier: Apache-2.0 */
#include "quant/quant.h"

#include <stdint.h>
#include <string.h>

#include "quant/quant_walk.h"
#include "llvm/llvm_values.h"

/*
 * Finds the multiplications of a kernel, before loops are unrolled and loads of
 * weights become numbers. Terms:
 *
 *   product   two bytes multiplied; a weight is read from a constant of the module;
 *   widened   a weight of at most eight bits that becomes a float;
 *   scale     a factor of a sum of products after it became a float, or of floats
 *             before they become bytes.
 */

enum {
	BYTE = 8,
	SCALE_LIMIT = 64 /* limit of floats computed from one sum */
};

struct survey {
	bool has_product;  /* a product with a weight */
	bool has_unbound;  /* a product without a weight */
	bool has_widened;  /* a widened weight */
	bool has_constant; /* a constant scale */
	bool has_run_time; /* a scale known only when the kernel runs */
};

bool quant_has_step(enum tkb_quant quant, enum tkb_step step)
{
	return quant != TKB_QUANT_WEIGHT_ONLY || step != TKB_STEP_GATHER;
}

bool quant_has_rules(enum tkb_quant quant, const char *file)
{
	switch (quant) {
	case TKB_QUANT_DYNAMIC:
		return strcmp(file, "dp4a.ll") == 0;
	case TKB_QUANT_WEIGHT_ONLY:
		return strcmp(file, "dequantize_fold.ll") == 0;
	default:
		return true;
	}
}

static bool is_byte(LLVMValueRef value)
{
	return quant_bits_of(value) <= BYTE && quant_is_data(value);
}

/* Is it a weight that is already a number, in one lane? */
static bool is_number(LLVMValueRef value)
{
	long long number;

	if (LLVMIsAConstantInt(value) == NULL)
		return LLVMIsConstant(value);
	number = LLVMConstIntGetSExtValue(value);
	return number >= INT8_MIN && number <= UINT8_MAX;
}

static bool is_product(LLVMValueRef value)
{
	LLVMValueRef a;
	LLVMValueRef b;

	if (quant_is_dp4a(value))
		return true;
	if (llvm_opcode(value) != LLVMMul)
		return false;
	a = LLVMGetOperand(value, 0);
	b = LLVMGetOperand(value, 1);
	return is_byte(a) && (is_byte(b) || is_number(b));
}

static bool visit_product(LLVMValueRef value, void *self)
{
	bool *const is_found = self;

	*is_found = *is_found || is_product(value);
	return !*is_found;
}

static bool is_sum_of_products(LLVMValueRef value)
{
	bool is_found = false;

	(void)quant_walk_back(value, visit_product, &is_found);
	return is_found;
}

static void add_scale(struct survey *survey, LLVMValueRef scale)
{
	if (quant_is_constant(scale))
		survey->has_constant = true;
	else
		survey->has_run_time = true;
}

/* Get the factors if the value is a multiplication of floats; else false. */
static bool factors_of(LLVMValueRef value, LLVMValueRef factors[2])
{
	static const char *const sums[] = { "llvm.fma.", "llvm.fmuladd." };
	const LLVMOpcode opcode = llvm_opcode(value);

	if (opcode != LLVMFMul && opcode != LLVMFDiv &&
	    !llvm_calls_any(value, sums, TKB_COUNT_OF(sums)))
		return false;
	factors[0] = LLVMGetOperand(value, 0);
	factors[1] = LLVMGetOperand(value, 1);
	return true;
}

static bool is_lane_of(LLVMValueRef user)
{
	const LLVMOpcode opcode = llvm_opcode(user);

	return opcode == LLVMExtractElement || opcode == LLVMInsertElement ||
	       opcode == LLVMShuffleVector || opcode == LLVMFPTrunc ||
	       opcode == LLVMFPExt || opcode == LLVMPHI;
}

struct floats {
	LLVMValueRef items[SCALE_LIMIT];
	size_t count;
};

static void add_float(struct floats *floats, LLVMValueRef value)
{
	for (size_t i = 0; i < floats->count; i++) {
		if (floats->items[i] == value)
			return;
	}
	if (floats->count < SCALE_LIMIT)
		floats->items[floats->count++] = value;
}

/*
 * Record the scales of a float that was a sum: what it is multiplied by, what
 * that product is multiplied by, and so on.
 */
static void survey_scales_behind(struct survey *survey, LLVMValueRef first)
{
	struct floats floats = { .items = { first }, .count = 1 };

	for (size_t i = 0; i < floats.count; i++) {
		for (LLVMUseRef use = LLVMGetFirstUse(floats.items[i]);
		     use != NULL; use = LLVMGetNextUse(use)) {
			LLVMValueRef user = LLVMGetUser(use);
			LLVMValueRef factors[2];
			bool is_first;

			if (is_lane_of(user))
				add_float(&floats, user);
			if (!factors_of(user, factors))
				continue;
			is_first = factors[0] == floats.items[i];
			if (!is_first && factors[1] != floats.items[i])
				continue; /* it is only added to a product */
			add_scale(survey, factors[is_first ? 1 : 0]);
			if (llvm_opcode(user) != LLVMCall)
				add_float(&floats, user);
		}
	}
}

/* For floats that become bytes: record the first product on the way back. */
static bool visit_quantization(LLVMValueRef value, void *self)
{
	LLVMValueRef factors[2];

	if (!factors_of(value, factors))
		return true;
	if (llvm_opcode(value) == LLVMFDiv || quant_is_constant(factors[1]))
		add_scale(self, factors[1]);
	else
		add_scale(self, factors[0]);
	return false;
}

static void survey_product(struct survey *survey, LLVMValueRef product)
{
	bool has_weight = false;

	for (unsigned i = 0; i < 2; i++) {
		LLVMValueRef factor = LLVMGetOperand(product, i);
		const struct quant_origin origin = quant_origin_of(factor);

		has_weight = has_weight ||
		             (!origin.has_other &&
		              (origin.has_table || LLVMIsConstant(factor)));
		if (origin.has_other)
			(void)quant_walk_back(factor, visit_quantization,
			                      survey);
	}
	if (has_weight)
		survey->has_product = true;
	else
		survey->has_unbound = true;
}

static void survey_float(struct survey *survey, LLVMValueRef value)
{
	LLVMValueRef number = LLVMGetOperand(value, 0);
	const struct quant_origin origin = quant_origin_of(number);

	if (!origin.has_other && origin.has_table &&
	    quant_bits_of(number) <= BYTE)
		survey->has_widened = true;
	else if (is_sum_of_products(number))
		survey_scales_behind(survey, value);
}

static struct survey survey_kernel(LLVMValueRef kernel)
{
	struct survey survey = { .has_product = false };

	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at)) {
			const LLVMOpcode opcode = llvm_opcode(at);

			if (is_product(at))
				survey_product(&survey, at);
			else if (opcode == LLVMSIToFP || opcode == LLVMUIToFP)
				survey_float(&survey, at);
		}
	}
	return survey;
}

static const char *fault_of(const struct survey *survey, enum tkb_quant quant)
{
	if (quant == TKB_QUANT_WEIGHT_ONLY) {
		if (survey->has_product || survey->has_unbound)
			return "it multiplies int8 by int8";
		return survey->has_widened
		               ? NULL
		               : "it makes no float of int8 or int4 weights "
		                 "that are constants of the module";
	}
	if (!survey->has_product)
		return survey->has_unbound
		               ? "neither factor of its int8 products is a "
		                 "constant of the module; bind the weights"
		               : "it has no product of int8 and int8";
	if (quant == TKB_QUANT_STATIC)
		return survey->has_run_time
		               ? "a scale is known at run time only; bind it"
		               : NULL;
	return survey->has_constant && !survey->has_run_time
	               ? "all its scales are constants"
	               : NULL;
}

const char *quant_fault(LLVMValueRef kernel, enum tkb_quant quant)
{
	const struct survey survey = survey_kernel(kernel);

	return quant == TKB_QUANT_ANY ? NULL : fault_of(&survey, quant);
}

static bool has_dp4a(LLVMValueRef kernel)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at)) {
			if (quant_is_dp4a(at))
				return true;
		}
	}
	return false;
}

const char *quant_fault_done(LLVMValueRef kernel, enum tkb_quant quant)
{
	if ((quant != TKB_QUANT_DYNAMIC && quant != TKB_QUANT_STATIC) ||
	    has_dp4a(kernel))
		return NULL;
	return "none of its int8 products becomes dp4a";
}
