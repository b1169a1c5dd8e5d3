/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack.h"

#include "llvm/llvm_values.h"

/* Decomposes addresses into sums, as far as flags exclude wrapping. */

#define LIMIT ((int64_t)1 << 30) /* of factors and offsets */

enum {
	PART_LIMIT = 32 /* of one index */
};

/* Terms that are not decomposed yet. */
struct parts {
	struct prepack_term items[PART_LIMIT];
	size_t count;
};

static bool is_small(int64_t number)
{
	return number <= LIMIT && number >= -LIMIT;
}

static bool push_part(struct parts *parts, LLVMValueRef value,
                      enum prepack_extension extension, int64_t factor)
{
	if (parts->count == PART_LIMIT || !is_small(factor))
		return false;
	parts->items[parts->count++] =
		(struct prepack_term){ value, extension, factor };
	return true;
}

static bool push_operands(struct parts *parts, const struct prepack_term *part)
{
	LLVMValueRef value = part->value;

	return push_part(parts, LLVMGetOperand(value, 0), part->extension,
	                 part->factor) &&
	       push_part(parts, LLVMGetOperand(value, 1), part->extension,
	                 part->factor);
}

static bool add_offset(struct prepack_address *address, int64_t factor,
                       int64_t number)
{
	if (!is_small(factor) || !is_small(number) ||
	    !is_small(factor * number))
		return false;
	address->offset += factor * number;
	return is_small(address->offset);
}

static bool add_term(struct prepack_address *address,
                     const struct prepack_term *part)
{
	struct prepack_term *term;

	for (size_t i = 0; i < address->term_count; i++) {
		term = &address->terms[i];
		if (term->value == part->value &&
		    term->extension == part->extension) {
			term->factor += part->factor;
			return is_small(term->factor);
		}
	}
	if (address->term_count == PREPACK_TERMS)
		return false;
	address->terms[address->term_count++] = *part;
	return true;
}

static bool read_constant(LLVMValueRef value, enum prepack_extension extension,
                          int64_t *out)
{
	if (LLVMIsAConstantInt(value) == NULL ||
	    LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
		return false;
	*out = extension == PREPACK_UNSIGNED
	               ? (int64_t)LLVMConstIntGetZExtValue(value)
	               : LLVMConstIntGetSExtValue(value);
	return is_small(*out);
}

/* Do the flags guarantee that the exact result fits? */
static bool keeps(LLVMValueRef arithmetic, enum prepack_extension extension)
{
	if (extension == PREPACK_WHOLE)
		return true;
	return extension == PREPACK_SIGNED ? LLVMGetNSW(arithmetic)
	                                   : LLVMGetNUW(arithmetic);
}

/* The factor of a multiplication by a constant, or of a shift. */
static bool constant_factor(LLVMValueRef value, const struct prepack_term *part,
                            int64_t *out)
{
	LLVMValueRef by = LLVMGetOperand(value, 1);

	if (!keeps(value, part->extension))
		return false;
	if (LLVMGetInstructionOpcode(value) == LLVMMul)
		return read_constant(by, part->extension, out) &&
		       is_small(*out * part->factor);
	if (!read_constant(by, PREPACK_UNSIGNED, out) || *out < 0 || *out > 29)
		return false;
	*out = (int64_t)1 << *out;
	return is_small(*out * part->factor);
}

/* Replace a part by its operands. False if it cannot be decomposed. */
static bool split_part(struct parts *parts, const struct prepack_term *part,
                       bool *is_bad)
{
	LLVMValueRef value = part->value;
	const enum prepack_extension extension = part->extension;
	bool is_kept = true;
	int64_t by = 0;

	if (LLVMIsAInstruction(value) == NULL)
		return false;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMSExt:
		if (extension == PREPACK_UNSIGNED)
			return false;
		is_kept = push_part(parts, LLVMGetOperand(value, 0),
		                    PREPACK_SIGNED, part->factor);
		break;
	case LLVMZExt:
		/* If the number is not negative, treat this as a sign extension:
		 * more arithmetic has flags for signed numbers. */
		is_kept = push_part(parts, LLVMGetOperand(value, 0),
		                    LLVMGetNNeg(value) ? PREPACK_SIGNED
		                                       : PREPACK_UNSIGNED,
		                    part->factor);
		break;
	case LLVMOr:
		if (!LLVMGetIsDisjoint(value))
			return false;
		is_kept = push_operands(parts, part);
		break;
	case LLVMAdd:
		if (!keeps(value, extension))
			return false;
		is_kept = push_operands(parts, part);
		break;
	case LLVMMul:
	case LLVMShl:
		if (!constant_factor(value, part, &by))
			return false;
		is_kept = push_part(parts, LLVMGetOperand(value, 0), extension,
		                    by * part->factor);
		break;
	default:
		return false;
	}
	*is_bad = !is_kept;
	return true;
}

/* Add factor * index to the address. */
static bool add_index(struct prepack_address *address, LLVMValueRef index,
                      int64_t factor)
{
	const unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(index));
	struct parts parts = { .count = 0 };
	bool is_bad = false;

	if (width > 64 ||
	    !push_part(&parts, index,
	               width == 64 ? PREPACK_WHOLE : PREPACK_SIGNED, factor))
		return false;
	while (parts.count != 0) {
		const struct prepack_term part = parts.items[--parts.count];
		int64_t number;

		if (read_constant(part.value, part.extension, &number)) {
			if (!add_offset(address, part.factor, number))
				return false;
		} else if (!split_part(&parts, &part, &is_bad)) {
			if (!add_term(address, &part))
				return false;
		}
		if (is_bad)
			return false;
	}
	return true;
}

/* Add one index, and descend to the type that it selects. */
static bool add_step(LLVMTargetDataRef layout, struct prepack_address *address,
                     LLVMTypeRef *type, LLVMValueRef index)
{
	int64_t number;

	switch (LLVMGetTypeKind(*type)) {
	case LLVMStructTypeKind:
		if (!read_constant(index, PREPACK_UNSIGNED, &number) ||
		    !add_offset(address, 1,
		                (int64_t)LLVMOffsetOfElement(layout, *type,
		                                             (unsigned)number)))
			return false;
		*type = LLVMStructGetTypeAtIndex(*type, (unsigned)number);
		return true;
	case LLVMArrayTypeKind:
		*type = LLVMGetElementType(*type);
		return add_index(address, index,
		                 (int64_t)LLVMABISizeOfType(layout, *type));
	default:
		return false;
	}
}

static bool add_gep(LLVMTargetDataRef layout, struct prepack_address *address,
                    LLVMValueRef gep)
{
	const unsigned count = (unsigned)LLVMGetNumOperands(gep);
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

	if (LLVMGetTypeKind(LLVMTypeOf(gep)) != LLVMPointerTypeKind)
		return false;
	for (unsigned i = 1; i < count; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);

		if (i == 1 &&
		    !add_index(address, index,
		               (int64_t)LLVMABISizeOfType(layout, type)))
			return false;
		if (i > 1 && !add_step(layout, address, &type, index))
			return false;
	}
	return true;
}

/* True for 64-bit addresses. */
static bool is_wide(LLVMTargetDataRef layout, LLVMValueRef pointer)
{
	LLVMTypeRef type = LLVMTypeOf(pointer);

	return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
	       LLVMPointerSizeForAS(layout, LLVMGetPointerAddressSpace(type)) ==
	               8;
}

bool prepack_address_of(LLVMTargetDataRef layout, LLVMValueRef pointer,
                        struct prepack_address *out)
{
	struct prepack_address address = { .base = pointer };

	while (is_wide(layout, address.base)) {
		const LLVMOpcode opcode = llvm_opcode(address.base);
		LLVMValueRef inner;

		if (opcode != LLVMGetElementPtr &&
		    opcode != LLVMAddrSpaceCast) {
			*out = address;
			return true;
		}
		inner = LLVMGetOperand(address.base, 0);
		if (opcode == LLVMGetElementPtr &&
		    !add_gep(layout, &address, address.base))
			return false;
		address.base = inner;
	}
	return false;
}

static bool has_term(const struct prepack_address *address,
                     const struct prepack_term *term)
{
	for (size_t i = 0; i < address->term_count; i++) {
		const struct prepack_term *own = &address->terms[i];

		if (own->value == term->value &&
		    own->extension == term->extension &&
		    own->factor == term->factor)
			return true;
	}
	return false;
}

bool prepack_differ_by_offset(const struct prepack_address *a,
                              const struct prepack_address *b)
{
	bool is_same = a->base == b->base && a->term_count == b->term_count;

	for (size_t i = 0; i < a->term_count && is_same; i++)
		is_same = has_term(b, &a->terms[i]);
	return is_same;
}
