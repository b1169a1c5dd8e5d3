/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <math.h>
#include <string.h>

/* Arithmetic on one lane. */

enum {
	NSW = 1,
	NUW = 2,
	EXACT = 1
};

__extension__ typedef __int128 wide;

uint64_t scalar_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

int64_t scalar_signed(uint64_t bits, unsigned width)
{
	const unsigned rest = 64 - width;

	return (int64_t)(bits << rest) >> rest;
}

/* Of five bits of exponent, and ten that follow a one that is not written. */
static double half_value(uint64_t bits)
{
	const int exponent = (int)(bits >> 10 & 31);
	const double part = (double)(bits & 1023);
	double value;

	if (exponent == 31)
		value = part == 0 ? (double)INFINITY : (double)NAN;
	else if (exponent == 0)
		value = ldexp(part, -24);
	else
		value = ldexp(1024 + part, exponent - 25);
	return (bits >> 15 & 1) != 0 ? -value : value;
}

static uint64_t half_bits(double value)
{
	const uint64_t sign = signbit(value) != 0 ? 1U << 15 : 0;
	const double size = fabs(value);
	int exponent;

	if (isnan(value))
		return 0x7e00;
	if (size >= 65520) /* half way to what would come next */
		return sign | 0x7c00;
	exponent = size < 0x1p-14 ? -14 : ilogb(size);
	/* What is rounded up to the next power of two carries. */
	return sign | (((uint64_t)(exponent + 14) << 10) +
	               (uint64_t)nearbyint(ldexp(size, 10 - exponent)));
}

double scalar_float(uint64_t bits, unsigned width)
{
	const uint32_t low = (uint32_t)bits;
	float single = 0;
	double value = 0;

	if (width == 16)
		return half_value(bits);
	if (width == 64) {
		memcpy(&value, &bits, sizeof(value));
		return value;
	}
	memcpy(&single, &low, sizeof(single));
	return (double)single;
}

uint64_t scalar_float_bits(double value, unsigned width)
{
	const float single = (float)value;
	uint64_t bits = 0;
	uint32_t low = 0;

	if (width == 16)
		return half_bits(value);
	if (width == 64) {
		memcpy(&bits, &value, sizeof(bits));
		return bits;
	}
	memcpy(&low, &single, sizeof(low));
	return low;
}

struct lane scalar_real(double value, unsigned width)
{
	/* The sign of a NaN, and what is in it, may be anything. */
	if (isnan(value))
		return (struct lane){ .bits = scalar_float_bits(NAN, width),
			              .is_open = true };
	return (struct lane){ .bits = scalar_float_bits(value, width) };
}

struct lane scalar_number(uint64_t bits, unsigned width)
{
	return (struct lane){ .bits = bits & scalar_mask(width) };
}

struct lane scalar_poison(void)
{
	return (struct lane){ .is_poison = true };
}

void scalar_bitcast(struct shape to, struct shape from, const struct lane *in,
                    struct lane *out)
{
	for (unsigned i = 0; i < to.count; i++)
		out[i] = scalar_number(0, 1);
	for (unsigned bit = 0; bit < to.width * to.count; bit++) {
		const struct lane *source = &in[bit / from.width];
		struct lane *target = &out[bit / to.width];

		target->is_poison = target->is_poison || source->is_poison;
		target->is_open = target->is_open || source->is_open;
		target->bits |= (source->bits >> (bit % from.width) & 1)
		                << (bit % to.width);
	}
}

/* What is too large, as a flag says it is not, is poison. */
static struct lane wrapped(const struct op *op, wide as_signed,
                           wide as_unsigned)
{
	const unsigned width = op->shape.width;
	const uint64_t bits = (uint64_t)as_unsigned & scalar_mask(width);

	if (((op->flags & NSW) != 0 &&
	     as_signed != (wide)scalar_signed(bits, width)) ||
	    ((op->flags & NUW) != 0 && as_unsigned != (wide)bits))
		return scalar_poison();
	return scalar_number(bits, width);
}

static struct lane shift(const struct op *op, uint64_t a, uint64_t b)
{
	const unsigned width = op->shape.width;
	uint64_t lost;

	if (b >= width)
		return scalar_poison();
	if (op->opcode == LLVMShl)
		return wrapped(op,
		               (wide)scalar_signed(a, width) * ((wide)1 << b),
		               (wide)a * ((wide)1 << b));
	lost = a & ((UINT64_C(1) << b) - 1);
	if ((op->flags & EXACT) != 0 && lost != 0)
		return scalar_poison();
	return op->opcode == LLVMLShr
	               ? scalar_number(a >> b, width)
	               : scalar_number((uint64_t)(scalar_signed(a, width) >> b),
	                               width);
}

static struct lane divide(struct machine *machine, const struct op *op,
                          uint64_t a, uint64_t b)
{
	const unsigned width = op->shape.width;
	const wide x = scalar_signed(a, width);
	const wide y = scalar_signed(b, width);
	const bool is_signed = op->opcode == LLVMSDiv || op->opcode == LLVMSRem;
	const bool is_rest = op->opcode == LLVMURem || op->opcode == LLVMSRem;

	if (b == 0 ||
	    (is_signed && y == -1 && a == UINT64_C(1) << (width - 1))) {
		machine_stop(machine, MACHINE_UNDEFINED, "a division");
		return scalar_poison();
	}
	if (is_rest)
		return scalar_number(is_signed ? (uint64_t)(x % y) : a % b,
		                     width);
	if ((op->flags & EXACT) != 0 && (is_signed ? x % y != 0 : a % b != 0))
		return scalar_poison();
	return scalar_number(is_signed ? (uint64_t)(x / y) : a / b, width);
}

static struct lane binary_float(const struct op *op, uint64_t a, uint64_t b)
{
	const unsigned width = op->shape.width;
	const double x = scalar_float(a, width);
	const double y = scalar_float(b, width);
	double value = 0;

	/* Of two floats a double holds enough to be rounded once more. */
	switch (op->opcode) {
	case LLVMFAdd:
		value = x + y;
		break;
	case LLVMFSub:
		value = x - y;
		break;
	case LLVMFMul:
		value = x * y;
		break;
	case LLVMFDiv:
		value = x / y;
		break;
	default:
		value = fmod(x, y);
		break;
	}
	if (((op->math & LLVMFastMathNoNaNs) != 0 &&
	     (isnan(x) || isnan(y) || isnan(value))) ||
	    ((op->math & LLVMFastMathNoInfs) != 0 &&
	     (isinf(x) || isinf(y) || isinf(value))))
		return scalar_poison();
	return scalar_real(value, width);
}

static bool is_division(LLVMOpcode opcode)
{
	return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem ||
	       opcode == LLVMSRem;
}

struct lane scalar_binary(struct machine *machine, const struct op *op,
                          struct lane a, struct lane b)
{
	const unsigned width = op->shape.width;
	const wide x = scalar_signed(a.bits, width);
	const wide y = scalar_signed(b.bits, width);
	const wide u = a.bits;
	const wide v = b.bits;

	if (is_division(op->opcode))
		machine_decide(machine, b);
	if (is_division(op->opcode) && b.is_poison)
		machine_stop(machine, MACHINE_UNDEFINED, "division by poison");
	if (a.is_poison || b.is_poison)
		return scalar_poison();
	switch (op->opcode) {
	case LLVMAdd:
		return wrapped(op, x + y, u + v);
	case LLVMSub:
		return wrapped(op, x - y, u - v);
	case LLVMMul:
		return wrapped(op, x * y, u * v);
	case LLVMShl:
	case LLVMLShr:
	case LLVMAShr:
		return shift(op, a.bits, b.bits);
	case LLVMAnd:
		return scalar_number(a.bits & b.bits, width);
	case LLVMOr:
		return op->flags != 0 && (a.bits & b.bits) != 0
		               ? scalar_poison()
		               : scalar_number(a.bits | b.bits, width);
	case LLVMXor:
		return scalar_number(a.bits ^ b.bits, width);
	default:
		break;
	}
	return is_division(op->opcode) ? divide(machine, op, a.bits, b.bits)
	                               : binary_float(op, a.bits, b.bits);
}

static bool compare_integers(unsigned predicate, uint64_t a, uint64_t b,
                             unsigned width)
{
	const int64_t x = scalar_signed(a, width);
	const int64_t y = scalar_signed(b, width);

	switch (predicate) {
	case LLVMIntEQ:
		return a == b;
	case LLVMIntNE:
		return a != b;
	case LLVMIntUGT:
		return a > b;
	case LLVMIntUGE:
		return a >= b;
	case LLVMIntULT:
		return a < b;
	case LLVMIntULE:
		return a <= b;
	case LLVMIntSGT:
		return x > y;
	case LLVMIntSGE:
		return x >= y;
	case LLVMIntSLT:
		return x < y;
	default:
		return x <= y;
	}
}

struct lane scalar_compare(const struct op *op, struct lane a, struct lane b)
{
	const unsigned width = op->from.width;
	double x;
	double y;
	unsigned is;

	if (a.is_poison || b.is_poison)
		return scalar_poison();
	if (op->opcode == LLVMICmp) {
		if (op->flags != 0 && ((a.bits ^ b.bits) >> (width - 1)) != 0)
			return scalar_poison();
		return scalar_number(
			compare_integers(op->detail, a.bits, b.bits, width), 1);
	}
	x = scalar_float(a.bits, width);
	y = scalar_float(b.bits, width);
	if (((op->math & LLVMFastMathNoNaNs) != 0 && (isnan(x) || isnan(y))) ||
	    ((op->math & LLVMFastMathNoInfs) != 0 && (isinf(x) || isinf(y))))
		return scalar_poison();
	/* A predicate's bits: equal, greater, less, unordered. */
	is = isnan(x) || isnan(y) ? 8 : x == y ? 1 : x > y ? 2 : 4;
	return scalar_number((op->detail & is) != 0, 1);
}

/* A number that does not fit is poison. */
static struct lane to_integer(const struct op *op, double value)
{
	const unsigned width = op->shape.width;
	const double whole = trunc(value);
	const bool is_signed = op->opcode == LLVMFPToSI;
	const double high = ldexp(1, (int)(is_signed ? width - 1 : width));
	const double low = is_signed ? -high : 0;

	if (isnan(value) || whole < low || whole >= high)
		return scalar_poison();
	return scalar_number(
		is_signed ? (uint64_t)(int64_t)whole : (uint64_t)whole, width);
}

/* From 64 bits a float would be rounded twice by way of a double. */
static struct lane to_float(const struct op *op, uint64_t bits)
{
	const unsigned width = op->shape.width;
	const int64_t number = scalar_signed(bits, op->from.width);
	float single;

	if (width != 32)
		return (struct lane){ .bits = scalar_float_bits(
					      op->opcode == LLVMSIToFP
						      ? (double)number
						      : (double)bits,
					      width) };
	single = op->opcode == LLVMSIToFP ? (float)number : (float)bits;
	return (struct lane){ .bits = scalar_float_bits((double)single,
		                                        width) };
}

static struct lane truncate(const struct op *op, uint64_t bits)
{
	const unsigned width = op->shape.width;
	const uint64_t kept = bits & scalar_mask(width);

	if (((op->flags & NUW) != 0 && kept != bits) ||
	    ((op->flags & NSW) != 0 &&
	     scalar_signed(kept, width) != scalar_signed(bits, op->from.width)))
		return scalar_poison();
	return scalar_number(kept, width);
}

struct lane scalar_cast(const struct op *op, struct lane value)
{
	const unsigned from = op->from.width;
	const unsigned width = op->shape.width;
	const bool is_negative = value.bits >> (from - 1) != 0;

	if (value.is_poison)
		return value;
	switch (op->opcode) {
	case LLVMTrunc:
		return truncate(op, value.bits);
	case LLVMZExt:
		return op->flags != 0 && is_negative
		               ? scalar_poison()
		               : scalar_number(value.bits, width);
	case LLVMSExt:
		return scalar_number((uint64_t)scalar_signed(value.bits, from),
		                     width);
	case LLVMUIToFP:
		if (op->flags != 0 && is_negative)
			return scalar_poison();
		return to_float(op, value.bits);
	case LLVMSIToFP:
		return to_float(op, value.bits);
	case LLVMFPToSI:
	case LLVMFPToUI:
		return to_integer(op, scalar_float(value.bits, from));
	case LLVMFPTrunc:
	case LLVMFPExt:
		return scalar_real(scalar_float(value.bits, from), width);
	default: /* addresses */
		return scalar_number(value.bits, width);
	}
}

uint64_t scalar_combine(LLVMAtomicRMWBinOp kind, uint64_t a, uint64_t b,
                        unsigned width)
{
	const int64_t x = scalar_signed(a, width);
	const int64_t y = scalar_signed(b, width);

	switch (kind) {
	case LLVMAtomicRMWBinOpXchg:
		return b;
	case LLVMAtomicRMWBinOpAdd:
		return a + b;
	case LLVMAtomicRMWBinOpSub:
		return a - b;
	case LLVMAtomicRMWBinOpAnd:
		return a & b;
	case LLVMAtomicRMWBinOpOr:
		return a | b;
	case LLVMAtomicRMWBinOpXor:
		return a ^ b;
	case LLVMAtomicRMWBinOpMax:
		return x > y ? a : b;
	case LLVMAtomicRMWBinOpMin:
		return x < y ? a : b;
	case LLVMAtomicRMWBinOpUMax:
		return a > b ? a : b;
	default:
		return a < b ? a : b;
	}
}
