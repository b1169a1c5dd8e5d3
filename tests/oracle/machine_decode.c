/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <stdlib.h>
#include <string.h>

/* Functions are taken apart once, and then run often. */

/* Where the lanes of a value are: a table by its address. */
struct slots {
	LLVMValueRef *keys;
	uint32_t *slots;
	size_t size; /* a power of two */
	size_t count;
};

struct decode {
	struct machine *machine;
	struct code *code;
	struct slots slots;
	LLVMBasicBlockRef *blocks;
	size_t capacity; /* of lanes */
};

static size_t slot_index(const struct slots *slots, LLVMValueRef key)
{
	size_t at = (size_t)machine_mix(1, (uint64_t)(uintptr_t)key) &
	            (slots->size - 1);

	while (slots->keys[at] != NULL && slots->keys[at] != key)
		at = (at + 1) & (slots->size - 1);
	return at;
}

static void grow(struct slots *slots)
{
	const struct slots old = *slots;

	slots->size = old.size == 0 ? 256 : 2 * old.size;
	slots->keys = machine_alloc(slots->size * sizeof(*slots->keys));
	slots->slots = machine_alloc(slots->size * sizeof(*slots->slots));
	for (size_t i = 0; i < old.size; i++) {
		size_t at;

		if (old.keys[i] == NULL)
			continue;
		at = slot_index(slots, old.keys[i]);
		slots->keys[at] = old.keys[i];
		slots->slots[at] = old.slots[i];
	}
	free(old.keys);
	free(old.slots);
}

static struct shape shape_of(const struct decode *decode, LLVMValueRef value)
{
	return machine_shape(decode->machine, LLVMTypeOf(value));
}

static uint32_t add_lanes(struct decode *decode, unsigned count)
{
	struct code *code = decode->code;
	const size_t first = code->lane_count;

	code->lane_count += count;
	if (code->lane_count > decode->capacity) {
		const size_t old = decode->capacity;

		decode->capacity = 2 * code->lane_count + 64;
		code->lanes = machine_realloc(
			code->lanes, decode->capacity * sizeof(*code->lanes));
		memset(code->lanes + old, 0,
		       (decode->capacity - old) * sizeof(*code->lanes));
	}
	return (uint32_t)first;
}

static uint32_t slot_of(struct decode *decode, LLVMValueRef value)
{
	struct shape shape;
	size_t at;

	if (2 * decode->slots.count >= decode->slots.size)
		grow(&decode->slots);
	at = slot_index(&decode->slots, value);
	if (decode->slots.keys[at] != NULL)
		return decode->slots.slots[at];
	shape = shape_of(decode, value);
	decode->slots.keys[at] = value;
	decode->slots.slots[at] = add_lanes(decode, shape.count);
	decode->slots.count++;
	if (LLVMIsConstant(value) && shape.kind != SHAPE_NONE &&
	    !machine_constant(decode->machine, value,
	                      decode->code->lanes + decode->slots.slots[at]))
		machine_stop(decode->machine, MACHINE_UNKNOWN, "a constant");
	return decode->slots.slots[at];
}

static uint32_t block_number(const struct decode *decode,
                             LLVMBasicBlockRef block)
{
	uint32_t i = 0;

	while (decode->blocks[i] != block)
		i++;
	return i;
}

static uint32_t flags_of(LLVMValueRef at, LLVMOpcode opcode)
{
	switch (opcode) {
	case LLVMAdd:
	case LLVMSub:
	case LLVMMul:
	case LLVMShl:
	case LLVMTrunc:
		return (LLVMGetNSW(at) ? 1U : 0U) | (LLVMGetNUW(at) ? 2U : 0U);
	case LLVMUDiv:
	case LLVMSDiv:
	case LLVMLShr:
	case LLVMAShr:
		return LLVMGetExact(at) ? 1 : 0;
	case LLVMZExt:
	case LLVMUIToFP:
		return LLVMGetNNeg(at) ? 1 : 0;
	case LLVMOr:
		return LLVMGetIsDisjoint(at) ? 1 : 0;
	case LLVMICmp:
		return LLVMGetICmpSameSign(at) ? 1 : 0;
	case LLVMGetElementPtr:
		return LLVMGEPGetNoWrapFlags(at);
	default:
		return 0;
	}
}

static void decode_memory(struct op *op)
{
	const LLVMAtomicOrdering order = LLVMGetOrdering(op->value);

	op->is_fence = order >= LLVMAtomicOrderingAcquire;
	if (op->opcode == LLVMFence) {
		op->is_strong = true;
		return;
	}
	op->align = LLVMGetAlignment(op->value);
	op->is_strong = LLVMGetVolatile(op->value) ||
	                order != LLVMAtomicOrderingNotAtomic;
	/* A plain one may move past these, if not past those that do both. */
	if (op->opcode == LLVMLoad || op->opcode == LLVMStore)
		op->is_fence = false;
	else
		op->is_fence = order >= LLVMAtomicOrderingAcquireRelease;
}

static void decode_targets(const struct decode *decode, struct op *op)
{
	const bool is_phi = op->opcode == LLVMPHI;

	op->target_count = is_phi ? LLVMCountIncoming(op->value)
	                          : LLVMGetNumSuccessors(op->value);
	op->targets = machine_alloc(op->target_count * sizeof(uint32_t));
	for (unsigned i = 0; i < op->target_count; i++)
		op->targets[i] = block_number(
			decode, is_phi ? LLVMGetIncomingBlock(op->value, i)
				       : LLVMGetSuccessor(op->value, i));
}

/* How many lanes come before a member. */
static unsigned path_of(const struct decode *decode, LLVMValueRef at)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(at, 0));
	unsigned lanes = 0;

	if (LLVMGetNumIndices(at) != 1 ||
	    LLVMGetTypeKind(type) != LLVMStructTypeKind) {
		machine_stop(decode->machine, MACHINE_UNKNOWN, "a member");
		return 0;
	}
	for (unsigned i = 0; i < LLVMGetIndices(at)[0]; i++)
		lanes += machine_shape(decode->machine,
		                       LLVMStructGetTypeAtIndex(type, i))
		                 .count;
	return lanes;
}

static void decode_call(struct decode *decode, struct op *op)
{
	LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(op->value));
	size_t length = 0;
	const char *name =
		callee == NULL ? "" : LLVMGetValueName2(callee, &length);

	op->detail = callee != NULL && LLVMIsDeclaration(callee)
	                     ? intrinsic_of(name)
	                     : 0;
	if (LLVMIsACallInst(op->value) == NULL ||
	    (LLVMIsAInlineAsm(LLVMGetCalledValue(op->value)) != NULL &&
	     !asm_decode(op)))
		machine_stop(decode->machine, MACHINE_UNKNOWN, "a call");
}

/* What some kinds of instructions have beside their operands. */
static void decode_rest(struct decode *decode, struct op *op)
{
	switch ((int)op->opcode) {
	case LLVMICmp:
		op->detail = LLVMGetICmpPredicate(op->value);
		break;
	case LLVMFCmp:
		op->detail = LLVMGetFCmpPredicate(op->value);
		break;
	case LLVMLoad:
	case LLVMStore:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		decode_memory(op);
		break;
	case LLVMPHI:
	case LLVMBr:
	case LLVMSwitch:
		decode_targets(decode, op);
		break;
	case LLVMExtractValue:
	case LLVMInsertValue:
		op->detail = path_of(decode, op->value);
		break;
	case LLVMShuffleVector:
		op->mask = machine_alloc(op->shape.count * sizeof(int));
		for (unsigned i = 0; i < op->shape.count; i++)
			op->mask[i] = LLVMGetMaskValue(op->value, i);
		break;
	case LLVMGetElementPtr:
		if (!machine_address_parts(decode->machine, op->value, op))
			machine_stop(decode->machine, MACHINE_UNKNOWN,
			             "an address");
		for (unsigned i = 0; i < op->step_count; i++)
			op->steps[i].slot = slot_of(
				decode,
				LLVMGetOperand(op->value, op->steps[i].slot));
		break;
	case LLVMCall:
	case LLVMInvoke:
		decode_call(decode, op);
		break;
	default:
		break;
	}
}

static bool is_wide(const struct decode *decode, const struct op *op)
{
	bool is_any = op->shape.kind == SHAPE_WIDE;

	for (unsigned i = 0; i < op->in_count; i++)
		is_any |= shape_of(decode, LLVMGetOperand(op->value, i)).kind ==
		          SHAPE_WIDE;
	return is_any;
}

static void decode_op(struct decode *decode, LLVMValueRef at, struct op *op)
{
	const unsigned count = (unsigned)LLVMGetNumOperands(at);

	op->opcode = LLVMGetInstructionOpcode(at);
	op->value = at;
	op->shape = shape_of(decode, at);
	op->flags = flags_of(at, op->opcode);
	if (LLVMCanValueUseFastMathFlags(at))
		op->math = LLVMGetFastMathFlags(at);
	if (op->shape.kind != SHAPE_NONE)
		op->out = slot_of(decode, at);
	else if (LLVMGetTypeKind(LLVMTypeOf(at)) != LLVMVoidTypeKind)
		machine_stop(decode->machine, MACHINE_UNKNOWN, "a type");
	op->in = machine_alloc(count * sizeof(*op->in));
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef operand = LLVMGetOperand(at, i);
		const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(operand));

		if (kind != LLVMLabelTypeKind && kind != LLVMMetadataTypeKind)
			op->in[i] = slot_of(decode, operand);
		if (i == 0 && kind != LLVMLabelTypeKind)
			op->from = shape_of(decode, operand);
	}
	op->in_count = count;
	op->is_wide = is_wide(decode, op);
	if (op->is_wide && !wide_is_known(op))
		machine_stop(decode->machine, MACHINE_UNKNOWN,
		             "a wide integer");
	decode_rest(decode, op);
}

static void decode_parameters(struct decode *decode)
{
	struct code *code = decode->code;
	const unsigned count = LLVMCountParams(code->function);

	code->parameter_count = count;
	code->parameters = machine_alloc(count * sizeof(*code->parameters));
	code->parameter_shapes =
		machine_alloc(count * sizeof(*code->parameter_shapes));
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef parameter = LLVMGetParam(code->function, i);

		code->parameters[i] = slot_of(decode, parameter);
		code->parameter_shapes[i] = shape_of(decode, parameter);
	}
}

static void decode_body(struct decode *decode)
{
	struct code *code = decode->code;
	size_t capacity = 0;

	for (size_t i = 0; i < code->block_count; i++) {
		code->blocks[i] = (uint32_t)code->op_count;
		for (LLVMValueRef at =
		             LLVMGetFirstInstruction(decode->blocks[i]);
		     at != NULL; at = LLVMGetNextInstruction(at)) {
			if (code->op_count == capacity) {
				capacity = 2 * capacity + 64;
				code->ops = machine_realloc(
					code->ops,
					capacity * sizeof(*code->ops));
			}
			memset(&code->ops[code->op_count], 0,
			       sizeof(*code->ops));
			decode_op(decode, at, &code->ops[code->op_count++]);
		}
	}
}

struct code *machine_code(struct machine *machine, LLVMValueRef function)
{
	struct decode decode = { .machine = machine };
	struct code *code;

	for (size_t i = 0; i < machine->code_count; i++) {
		if (machine->codes[i]->function == function)
			return machine->codes[i];
	}
	code = machine_alloc(sizeof(*code));
	code->function = function;
	decode.code = code;
	code->block_count = LLVMCountBasicBlocks(function);
	decode.blocks =
		machine_alloc(code->block_count * sizeof(LLVMBasicBlockRef));
	LLVMGetBasicBlocks(function, decode.blocks);
	code->blocks = machine_alloc(code->block_count * sizeof(uint32_t));
	decode_parameters(&decode);
	decode_body(&decode);
	free(decode.slots.keys);
	free(decode.slots.slots);
	free(decode.blocks);
	machine->codes = machine_realloc(machine->codes,
	                                 (machine->code_count + 1) *
	                                         sizeof(*machine->codes));
	machine->codes[machine->code_count++] = code;
	return code;
}

void machine_release_code(struct code *code)
{
	for (size_t i = 0; i < code->op_count; i++) {
		free(code->ops[i].in);
		free(code->ops[i].steps);
		free(code->ops[i].mask);
		free(code->ops[i].targets);
		free(code->ops[i].read);
	}
	free(code->ops);
	free(code->blocks);
	free(code->lanes);
	free(code->parameters);
	free(code->parameter_shapes);
	free(code);
}
