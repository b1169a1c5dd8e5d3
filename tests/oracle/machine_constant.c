/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <string.h>

/* Types, constants, and addresses as far as they are constant. */

static struct shape shape_of_struct(const struct machine *machine,
                                    LLVMTypeRef type)
{
	struct shape shape = { .kind = SHAPE_STRUCT };

	for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
		const struct shape part = machine_shape(
			machine, LLVMStructGetTypeAtIndex(type, i));

		if (part.kind == SHAPE_NONE || part.kind == SHAPE_WIDE)
			return (struct shape){ .kind = SHAPE_NONE };
		shape.count += part.count;
	}
	return shape;
}

struct shape machine_shape(const struct machine *machine, LLVMTypeRef type)
{
	struct shape shape = { .count = 1 };

	if (LLVMGetTypeKind(type) == LLVMStructTypeKind)
		return shape_of_struct(machine, type);
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
		shape.count = LLVMGetVectorSize(type);
		type = LLVMGetElementType(type);
	}
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		shape.kind = SHAPE_INTEGER;
		shape.width = LLVMGetIntTypeWidth(type);
		break;
	case LLVMHalfTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		shape.kind = SHAPE_FLOAT;
		shape.width =
			(unsigned)LLVMSizeOfTypeInBits(machine->layout, type);
		break;
	case LLVMPointerTypeKind:
		shape.kind = SHAPE_POINTER;
		shape.width = 64;
		break;
	default:
		break;
	}
	if (shape.width > 64 && shape.width % 64 == 0 && shape.count == 1)
		shape = (struct shape){ SHAPE_WIDE, 64, shape.width / 64 };
	if (shape.width > 64)
		shape.kind = SHAPE_NONE;
	if (shape.kind == SHAPE_NONE)
		shape.count = 0;
	return shape;
}

static bool constant_expression(struct machine *machine, LLVMValueRef constant,
                                struct lane *out)
{
	struct op op = { .offset = 0 };
	LLVMTypeRef type = LLVMTypeOf(constant);
	LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(constant, 0));
	const LLVMOpcode opcode = LLVMGetConstOpcode(constant);
	struct lane lanes[64];

	if (opcode == LLVMBitCast || opcode == LLVMExtractElement) {
		const struct shape shape = machine_shape(machine, from);

		if (shape.count > 64 ||
		    !machine_constant(machine, LLVMGetOperand(constant, 0),
		                      lanes))
			return false;
		if (opcode == LLVMBitCast)
			scalar_bitcast(machine_shape(machine, type), shape,
			               lanes, out);
		else
			*out = lanes[LLVMConstIntGetZExtValue(
					     LLVMGetOperand(constant, 1)) %
			             64];
		return true;
	}
	switch ((int)opcode) {
	case LLVMGetElementPtr:
		if (!machine_address_parts(machine, constant, &op) ||
		    op.step_count != 0)
			return false;
		break;
	case LLVMAddrSpaceCast:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
		break;
	default:
		return false;
	}
	if (!machine_constant(machine, LLVMGetOperand(constant, 0), out))
		return false;
	out->bits += (uint64_t)op.offset;
	return true;
}

static bool scalar_constant(struct machine *machine, LLVMValueRef constant,
                            struct lane *out)
{
	size_t length = 0;
	LLVMBool is_inexact = false;
	struct object *object;

	*out = (struct lane){ .is_poison = LLVMIsUndef(constant) };
	if (out->is_poison || LLVMIsNull(constant))
		return true;
	if (LLVMIsAConstantInt(constant) != NULL) {
		out->bits = LLVMConstIntGetZExtValue(constant);
		return true;
	}
	if (LLVMIsAConstantFP(constant) != NULL) {
		out->bits = scalar_float_bits(
			LLVMConstRealGetDouble(constant, &is_inexact),
			machine_shape(machine, LLVMTypeOf(constant)).width);
		return true;
	}
	if (LLVMIsAGlobalValue(constant) != NULL) {
		object = machine_find_name(
			machine, LLVMGetValueName2(constant, &length));
		out->bits = object == NULL ? 0 : object->base;
		return object != NULL;
	}
	return LLVMIsAConstantExpr(constant) != NULL &&
	       constant_expression(machine, constant, out);
}

bool machine_constant(struct machine *machine, LLVMValueRef constant,
                      struct lane *out)
{
	const struct shape shape = machine_shape(machine, LLVMTypeOf(constant));
	const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(constant));

	if ((kind != LLVMVectorTypeKind && kind != LLVMStructTypeKind) ||
	    LLVMIsAConstantExpr(constant) != NULL)
		return scalar_constant(machine, constant, out);
	for (unsigned i = 0; i < shape.count; i++) {
		if (LLVMIsUndef(constant))
			out[i] = scalar_poison();
		else if (LLVMIsNull(constant))
			out[i] = scalar_number(0, 64);
		else if (!scalar_constant(machine,
		                          LLVMGetAggregateElement(constant, i),
		                          &out[i]))
			return false;
	}
	return true;
}

/* Of the index at `operand`, of things of `size` bytes. */
static bool add_index(const struct machine *machine, LLVMValueRef gep,
                      unsigned operand, uint64_t size, struct op *op)
{
	LLVMValueRef index = LLVMGetOperand(gep, operand);
	const struct shape shape = machine_shape(machine, LLVMTypeOf(index));

	if (shape.kind != SHAPE_INTEGER || shape.count != 1)
		return false;
	if (LLVMIsAConstantInt(index) != NULL) {
		op->offset += LLVMConstIntGetSExtValue(index) * (int64_t)size;
		return true;
	}
	op->steps = machine_realloc(op->steps,
	                            (op->step_count + 1) * sizeof(*op->steps));
	op->steps[op->step_count++] =
		(struct step){ operand, shape.width, (int64_t)size };
	return true;
}

bool machine_address_parts(const struct machine *machine, LLVMValueRef gep,
                           struct op *op)
{
	const unsigned count = (unsigned)LLVMGetNumOperands(gep);
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

	if (LLVMGetTypeKind(LLVMTypeOf(gep)) != LLVMPointerTypeKind)
		return false;
	if (!add_index(machine, gep, 1,
	               LLVMABISizeOfType(machine->layout, type), op))
		return false;
	for (unsigned i = 2; i < count; i++) {
		const LLVMTypeKind kind = LLVMGetTypeKind(type);

		if (kind == LLVMStructTypeKind) {
			const unsigned number =
				(unsigned)LLVMConstIntGetZExtValue(
					LLVMGetOperand(gep, i));

			op->offset += (int64_t)LLVMOffsetOfElement(
				machine->layout, type, number);
			type = LLVMStructGetTypeAtIndex(type, number);
			continue;
		}
		if (kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind)
			return false;
		type = LLVMGetElementType(type);
		if (!add_index(machine, gep, i,
		               LLVMABISizeOfType(machine->layout, type), op))
			return false;
	}
	return true;
}
