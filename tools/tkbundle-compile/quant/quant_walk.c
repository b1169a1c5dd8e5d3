/* SPDX-License-Identifier: Apache-2.0 */
#include "quant/quant_walk.h"

#include <stdint.h>
#include <string.h>

#include "llvm/ptx_read.h"
#include "llvm/llvm_values.h"

enum {
	WALK_LIMIT = 512, /* limit of values of one walk */
	CHAIN_LIMIT = 32  /* limit of steps of a walk that does not branch */
};

struct walk {
	LLVMValueRef items[WALK_LIMIT];
	size_t count;
	bool is_cut;
};

static void walk_add(struct walk *walk, LLVMValueRef value)
{
	for (size_t i = 0; i < walk->count; i++) {
		if (walk->items[i] == value)
			return;
	}
	if (walk->count == WALK_LIMIT)
		walk->is_cut = true;
	else
		walk->items[walk->count++] = value;
}

/* Is it a call whose result, for our purpose, depends only on its arguments? */
static bool is_computing_call(LLVMValueRef call)
{
	/* A shuffle returns a value of another lane, computed by the same code. */
	static const char *const shuffle[] = { "llvm.nvvm.shfl." };
	LLVMValueRef callee = llvm_called_function(call);

	return (callee != NULL && llvm_only_computes(callee) &&
	        LLVMGetNumArgOperands(call) != 0) ||
	       llvm_calls_any(call, shuffle, 1);
}

/*
 * Is this operand a choice among bits, lanes or values? It is not followed: if
 * a word has two weights, it may depend on the thread which one is used.
 */
static bool is_choice(LLVMOpcode opcode, int operand)
{
	switch (opcode) {
	case LLVMShl:
	case LLVMLShr:
	case LLVMAShr:
	case LLVMExtractElement:
		return operand == 1;
	case LLVMInsertElement:
		return operand == 2;
	case LLVMSelect:
		return operand == 0;
	default:
		return false;
	}
}

static void add_operands(struct walk *walk, LLVMValueRef value)
{
	const bool is_call = LLVMIsACallInst(value) != NULL;
	const int count = is_call ? (int)LLVMGetNumArgOperands(value)
	                          : LLVMGetNumOperands(value);

	for (int i = 0; i < count; i++) {
		if (!is_choice(llvm_opcode(value), i))
			walk_add(walk, LLVMGetOperand(value, (unsigned)i));
	}
}

static void go_on(struct walk *walk, LLVMValueRef value)
{
	if (LLVMIsAInstruction(value) == NULL || LLVMIsALoadInst(value) != NULL)
		return;
	if (LLVMIsAPHINode(value) != NULL) {
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			walk_add(walk, LLVMGetIncomingValue(value, i));
		return;
	}
	if (LLVMIsACallInst(value) != NULL && !is_computing_call(value))
		return;
	add_operands(walk, value);
}

bool quant_walk_back(LLVMValueRef from, quant_visit *visit, void *self)
{
	struct walk walk = { .count = 0 };

	walk_add(&walk, from);
	for (size_t i = 0; i < walk.count; i++) {
		if (visit(walk.items[i], self))
			go_on(&walk, walk.items[i]);
	}
	return !walk.is_cut;
}

/* The address that `value` reads from; NULL: it is not a read. */
static LLVMValueRef address_of(LLVMValueRef value)
{
	struct ptx_read read;

	if (LLVMIsALoadInst(value) != NULL)
		return LLVMGetOperand(value, 0);
	if (LLVMIsACallInst(value) != NULL && ptx_read_of(value, &read))
		return LLVMGetOperand(value, (unsigned)read.address);
	return NULL;
}

static bool leads_elsewhere(LLVMValueRef pointer)
{
	const LLVMOpcode opcode = llvm_opcode(pointer);

	return opcode == LLVMGetElementPtr || opcode == LLVMAddrSpaceCast ||
	       opcode == LLVMBitCast || opcode == LLVMFreeze ||
	       opcode == LLVMPHI || opcode == LLVMSelect;
}

static void add_pointers(struct walk *walk, LLVMValueRef pointer)
{
	const LLVMOpcode opcode = llvm_opcode(pointer);

	if (opcode == LLVMPHI) {
		for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++)
			walk_add(walk, LLVMGetIncomingValue(pointer, i));
	} else if (opcode == LLVMSelect) {
		walk_add(walk, LLVMGetOperand(pointer, 1));
		walk_add(walk, LLVMGetOperand(pointer, 2));
	} else {
		walk_add(walk, LLVMGetOperand(pointer, 0));
	}
}

bool quant_is_in_table(LLVMValueRef address)
{
	struct walk walk = { .count = 0 };

	walk_add(&walk, address);
	for (size_t i = 0; i < walk.count; i++) {
		LLVMValueRef at = walk.items[i];

		if (leads_elsewhere(at))
			add_pointers(&walk, at);
		else if (LLVMIsAGlobalVariable(at) == NULL ||
		         !LLVMIsGlobalConstant(at) ||
		         LLVMGetInitializer(at) == NULL)
			return false;
	}
	return !walk.is_cut;
}

static bool visit_origin(LLVMValueRef value, void *self)
{
	struct quant_origin *const origin = self;
	LLVMValueRef address = address_of(value);

	if (address != NULL) {
		if (quant_is_in_table(address))
			origin->has_table = true;
		else
			origin->has_other = true;
		return false;
	}
	if (LLVMIsAInstruction(value) == NULL) {
		if (!LLVMIsConstant(value) || LLVMIsAGlobalValue(value) != NULL)
			origin->has_other = true;
		return false;
	}
	if (LLVMIsACallInst(value) != NULL && !is_computing_call(value)) {
		origin->has_other = true;
		return false;
	}
	return true;
}

struct quant_origin quant_origin_of(LLVMValueRef value)
{
	struct quant_origin origin = { .has_table = false };

	if (!quant_walk_back(value, visit_origin, &origin))
		origin.has_other = true;
	return origin;
}

bool quant_is_constant(LLVMValueRef value)
{
	return !quant_origin_of(value).has_other;
}

static bool visit_data(LLVMValueRef value, void *self)
{
	bool *const is_data = self;
	const LLVMOpcode opcode = llvm_opcode(value);

	*is_data = *is_data || address_of(value) != NULL ||
	           opcode == LLVMFPToSI || opcode == LLVMFPToUI ||
	           opcode == LLVMExtractValue;
	return !*is_data;
}

bool quant_is_data(LLVMValueRef value)
{
	bool is_data = false;

	(void)quant_walk_back(value, visit_data, &is_data);
	return is_data;
}

/* The bits that a constant, or a lane of it, uses, unsigned; 64: unknown. */
static unsigned bits_of_mask(LLVMValueRef mask)
{
	const unsigned lanes = llvm_lane_count(LLVMTypeOf(mask));
	unsigned most = 0;

	for (unsigned i = 0; i < lanes; i++) {
		LLVMValueRef lane = lanes == 1 && LLVMIsAConstantInt(mask)
		                            ? mask
		                            : LLVMGetAggregateElement(mask, i);
		uint64_t bits;
		unsigned count = 0;

		if (lane == NULL || LLVMIsAConstantInt(lane) == NULL)
			return 64;
		for (bits = LLVMConstIntGetZExtValue(lane); bits != 0;
		     bits >>= 1)
			count++;
		most = count > most ? count : most;
	}
	return most;
}

/* The amount of a shift that is the same in all lanes; 0: unknown. */
static unsigned shift_of(LLVMValueRef amount)
{
	LLVMValueRef lane = llvm_lane_count(LLVMTypeOf(amount)) == 1 ||
	                                    !LLVMIsConstant(amount)
	                            ? amount
	                            : LLVMGetAggregateElement(amount, 0);

	return lane != NULL && LLVMIsAConstantInt(lane) != NULL
	               ? (unsigned)LLVMConstIntGetZExtValue(lane)
	               : 0;
}

static unsigned type_bits(LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
		type = LLVMGetElementType(type);
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
	               ? LLVMGetIntTypeWidth(type)
	               : 64;
}

static bool only_moves(LLVMOpcode opcode)
{
	return opcode == LLVMSExt || opcode == LLVMZExt ||
	       opcode == LLVMFreeze || opcode == LLVMExtractElement ||
	       opcode == LLVMShuffleVector;
}

unsigned quant_bits_of(LLVMValueRef value)
{
	for (int i = 0; i < CHAIN_LIMIT && only_moves(llvm_opcode(value)); i++)
		value = LLVMGetOperand(value, 0);
	const unsigned bits = type_bits(LLVMTypeOf(value));
	const LLVMOpcode opcode = llvm_opcode(value);
	unsigned other;

	if (LLVMIsAInstruction(value) == NULL)
		return bits;
	if (opcode == LLVMAnd) {
		other = bits_of_mask(LLVMGetOperand(value, 1));
		return other < bits ? other : bits;
	}
	if (opcode != LLVMLShr && opcode != LLVMAShr)
		return bits;
	other = shift_of(LLVMGetOperand(value, 1));
	return other < bits ? bits - other : bits;
}

bool quant_is_dp4a(LLVMValueRef value)
{
	static const char *const dp4a[] = { "llvm.nvvm.idp4a." };

	return llvm_calls_any(value, dp4a, 1);
}
