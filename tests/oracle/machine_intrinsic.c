/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <math.h>
#include <string.h>

/* What LLVM and the GPU know by name. */

__extension__ typedef __int128 wide;

enum intrinsic {
	NOT_KNOWN,
	NOTHING,
	ASSUME,
	BARRIER,
	THREAD,
	BLOCK,
	LANE,
	THREADS,
	BLOCKS,
	DP4A,
	NORM, /* of the rules of these tests */
	SMAX,
	SMIN,
	UMAX,
	UMIN,
	ABS,
	CTPOP,
	CTLZ,
	CTTZ,
	BSWAP,
	BITREVERSE,
	FSHL,
	FSHR,
	SADD_SAT,
	UADD_SAT,
	SSUB_SAT,
	USUB_SAT,
	SCMP,
	UCMP,
	SADD_OVER,
	UADD_OVER,
	SSUB_OVER,
	USUB_OVER,
	SMUL_OVER,
	UMUL_OVER,
	REDUCE_ADD,
	REDUCE_MUL,
	REDUCE_AND,
	REDUCE_OR,
	REDUCE_XOR,
	MEMCPY,
	MEMSET,
	FIRST_FLOAT,
	RINT = FIRST_FLOAT,
	ROUND,
	FLOOR,
	CEIL,
	TRUNC,
	FABS,
	MIN_NUM,
	MAX_NUM,
	MINIMUM,
	MAXIMUM,
	COPYSIGN,
	DIVIDE,
	FMA
};

/* The first that a name begins with. */
static const struct {
	const char *name;
	enum intrinsic kind;
} names[] = {
	{ "llvm.lifetime.", NOTHING },
	{ "llvm.donothing", NOTHING },
	{ "llvm.experimental.noalias.scope", NOTHING },
	{ "llvm.instrprof.increment", NOTHING },
	{ "llvm.pseudoprobe", NOTHING },
	{ "llvm.dbg.", NOTHING },
	{ "llvm.nvvm.cp.async.", NOTHING },
	{ "llvm.assume", ASSUME },
	{ "llvm.nvvm.barrier", BARRIER },
	{ "llvm.nvvm.membar", BARRIER },
	{ "llvm.nvvm.read.ptx.sreg.tid.x", THREAD },
	{ "llvm.nvvm.read.ptx.sreg.ctaid.x", BLOCK },
	{ "llvm.nvvm.read.ptx.sreg.laneid", LANE },
	{ "llvm.nvvm.read.ptx.sreg.ntid.x", THREADS },
	{ "llvm.nvvm.read.ptx.sreg.nctaid.x", BLOCKS },
	{ "llvm.nvvm.idp4a.", DP4A },
	{ "norm", NORM },
	{ "llvm.smax.", SMAX },
	{ "llvm.smin.", SMIN },
	{ "llvm.umax.", UMAX },
	{ "llvm.umin.", UMIN },
	{ "llvm.abs.", ABS },
	{ "llvm.ctpop.", CTPOP },
	{ "llvm.ctlz.", CTLZ },
	{ "llvm.cttz.", CTTZ },
	{ "llvm.bswap.", BSWAP },
	{ "llvm.bitreverse.", BITREVERSE },
	{ "llvm.fshl.", FSHL },
	{ "llvm.fshr.", FSHR },
	{ "llvm.sadd.sat.", SADD_SAT },
	{ "llvm.uadd.sat.", UADD_SAT },
	{ "llvm.ssub.sat.", SSUB_SAT },
	{ "llvm.usub.sat.", USUB_SAT },
	{ "llvm.scmp.", SCMP },
	{ "llvm.ucmp.", UCMP },
	{ "llvm.sadd.with.overflow.", SADD_OVER },
	{ "llvm.uadd.with.overflow.", UADD_OVER },
	{ "llvm.ssub.with.overflow.", SSUB_OVER },
	{ "llvm.usub.with.overflow.", USUB_OVER },
	{ "llvm.smul.with.overflow.", SMUL_OVER },
	{ "llvm.umul.with.overflow.", UMUL_OVER },
	{ "llvm.vector.reduce.add.", REDUCE_ADD },
	{ "llvm.vector.reduce.mul.", REDUCE_MUL },
	{ "llvm.vector.reduce.and.", REDUCE_AND },
	{ "llvm.vector.reduce.or.", REDUCE_OR },
	{ "llvm.vector.reduce.xor.", REDUCE_XOR },
	{ "llvm.memcpy.", MEMCPY },
	{ "llvm.memmove.", MEMCPY },
	{ "llvm.memset.", MEMSET },
	{ "llvm.rint.", RINT },
	{ "llvm.nearbyint.", RINT },
	{ "llvm.roundeven.", RINT },
	{ "llvm.nvvm.round.", RINT },
	{ "__nv_rintf", RINT },
	{ "__nv_nearbyintf", RINT },
	{ "llvm.round.", ROUND },
	{ "llvm.floor.", FLOOR },
	{ "llvm.ceil.", CEIL },
	{ "llvm.trunc.", TRUNC },
	{ "llvm.fabs.", FABS },
	{ "llvm.minnum.", MIN_NUM },
	{ "llvm.maxnum.", MAX_NUM },
	{ "llvm.minimumnum.", MIN_NUM },
	{ "llvm.maximumnum.", MAX_NUM },
	{ "llvm.nvvm.fmin.", MIN_NUM },
	{ "llvm.nvvm.fmax.", MAX_NUM },
	{ "llvm.minimum.", MINIMUM },
	{ "llvm.maximum.", MAXIMUM },
	{ "llvm.copysign.", COPYSIGN },
	{ "llvm.nvvm.div.full", DIVIDE },
	{ "llvm.fma.", FMA },
	{ "llvm.fmuladd.", FMA },
};

unsigned intrinsic_of(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(name, names[i].name, strlen(names[i].name)) == 0)
			return names[i].kind;
	}
	return NOT_KNOWN;
}

static uint64_t dp4a(const struct op *op, const uint64_t *in)
{
	size_t length = 0;
	const char *name =
		LLVMGetValueName2(LLVMGetCalledValue(op->value), &length);
	const bool a_signed = name[strlen("llvm.nvvm.idp4a.")] == 's';
	const bool b_signed = name[strlen("llvm.nvvm.idp4a.s.")] == 's';
	uint64_t sum = in[2];

	for (unsigned i = 0; i < 4; i++) {
		const uint64_t a = in[0] >> (8 * i) & 255;
		const uint64_t b = in[1] >> (8 * i) & 255;

		sum += (uint64_t)((a_signed ? scalar_signed(a, 8)
		                            : (int64_t)a) *
		                  (b_signed ? scalar_signed(b, 8)
		                            : (int64_t)b));
	}
	return sum;
}

static uint64_t reversed(uint64_t bits, unsigned width, unsigned part)
{
	uint64_t out = 0;

	for (unsigned at = 0; at < width; at += part)
		out |= (bits >> at & scalar_mask(part)) << (width - part - at);
	return out;
}

static uint64_t clamp(wide value, wide low, wide high)
{
	return (uint64_t)(value < low ? low : value > high ? high : value);
}

static struct lane count_zeros(const uint64_t *in, unsigned width,
                               bool is_leading)
{
	uint64_t count = 0;

	if (in[0] == 0)
		return in[1] != 0 ? scalar_poison()
		                  : scalar_number(width, width);
	while ((in[0] >> (is_leading ? width - 1 - count : count) & 1) == 0)
		count++;
	return scalar_number(count, width);
}

static uint64_t saturated(unsigned kind, const uint64_t *in, unsigned width)
{
	const wide x = scalar_signed(in[0], width);
	const wide y = scalar_signed(in[1], width);
	const wide u = in[0];
	const wide v = in[1];
	const wide most = ((wide)1 << (width - 1)) - 1;

	switch (kind) {
	case SADD_SAT:
		return clamp(x + y, -most - 1, most);
	case SSUB_SAT:
		return clamp(x - y, -most - 1, most);
	case UADD_SAT:
		return clamp(u + v, 0, (wide)scalar_mask(width));
	default:
		return clamp(u - v, 0, (wide)scalar_mask(width));
	}
}

static uint64_t funnel(unsigned kind, const uint64_t *in, unsigned width)
{
	const unsigned by = (unsigned)(in[2] % width);

	if (by == 0)
		return kind == FSHL ? in[0] : in[1];
	return kind == FSHL ? in[0] << by | in[1] >> (width - by)
	                    : in[0] << (width - by) | in[1] >> by;
}

/* A lane of what integers give. */
static struct lane integer(unsigned kind, const struct op *op,
                           const uint64_t *in)
{
	const unsigned width = op->from.width;
	const int64_t x = scalar_signed(in[0], width);
	const int64_t y = scalar_signed(in[1], width);

	switch (kind) {
	case SMAX:
		return scalar_number(x > y ? in[0] : in[1], width);
	case SMIN:
		return scalar_number(x < y ? in[0] : in[1], width);
	case UMAX:
		return scalar_number(in[0] > in[1] ? in[0] : in[1], width);
	case UMIN:
		return scalar_number(in[0] < in[1] ? in[0] : in[1], width);
	case ABS:
		if (in[1] != 0 && in[0] == UINT64_C(1) << (width - 1))
			return scalar_poison();
		return scalar_number(x < 0 ? -in[0] : in[0], width);
	case CTPOP:
		return scalar_number((uint64_t)__builtin_popcountll(in[0]),
		                     width);
	case CTLZ:
	case CTTZ:
		return count_zeros(in, width, kind == CTLZ);
	case BSWAP:
	case BITREVERSE:
		return scalar_number(
			reversed(in[0], width, kind == BSWAP ? 8 : 1), width);
	case FSHL:
	case FSHR:
		return scalar_number(funnel(kind, in, width), width);
	case SCMP:
		return scalar_number((uint64_t)((x > y) - (x < y)),
		                     op->shape.width);
	case UCMP:
		return scalar_number(
			(uint64_t)((in[0] > in[1]) - (in[0] < in[1])),
			op->shape.width);
	case NORM:
		return scalar_number(in[0] * in[0] + in[1] * in[1] + in[2],
		                     width);
	case DP4A:
		return scalar_number(dp4a(op, in), width);
	default:
		return scalar_number(saturated(kind, in, width), width);
	}
}

static double least(double x, double y)
{
	return x < y || (x == y && signbit(x)) ? x : y;
}

static double greatest(double x, double y)
{
	return x > y || (x == y && !signbit(x)) ? x : y;
}

static double real_number(unsigned kind, double x, double y)
{
	switch (kind) {
	case RINT:
		return nearbyint(x);
	case ROUND:
		return round(x);
	case FLOOR:
		return floor(x);
	case CEIL:
		return ceil(x);
	case TRUNC:
		return trunc(x);
	case FABS:
		return fabs(x);
	case MIN_NUM:
		return isnan(x) ? y : isnan(y) ? x : least(x, y);
	case MAX_NUM:
		return isnan(x) ? y : isnan(y) ? x : greatest(x, y);
	case MINIMUM:
		return isnan(x) ? x : isnan(y) ? y : least(x, y);
	case MAXIMUM:
		return isnan(x) ? x : isnan(y) ? y : greatest(x, y);
	case COPYSIGN:
		return copysign(x, y);
	default:
		return x / y;
	}
}

static struct lane floating(unsigned kind, const struct op *op,
                            const uint64_t *in)
{
	const unsigned width = op->shape.width;
	double x[3];
	double value;

	for (unsigned i = 0; i < 3; i++)
		x[i] = scalar_float(in[i], width);
	/* Rounded once: not to a double first. */
	if (kind == FMA)
		value = width == 64 ? fma(x[0], x[1], x[2])
		                    : (double)fmaf((float)x[0], (float)x[1],
		                                   (float)x[2]);
	else
		value = real_number(kind, x[0], x[1]);
	if (((op->math & LLVMFastMathNoNaNs) != 0 &&
	     (isnan(x[0]) || isnan(value))) ||
	    ((op->math & LLVMFastMathNoInfs) != 0 &&
	     (isinf(x[0]) || isinf(value))))
		return scalar_poison();
	return scalar_real(value, width);
}

static void run_lanes(const struct op *op, struct lane *lanes)
{
	const unsigned count = op->in_count - 1; /* behind is the callee */
	const unsigned kind = op->detail;

	for (unsigned i = 0; i < op->shape.count; i++) {
		uint64_t in[3] = { 0, 0, 0 };
		bool is_poison = false;
		bool is_open = false;

		for (unsigned k = 0; k < count && k < 3; k++) {
			const bool is_plain =
				k == 1 &&
				(kind == ABS || kind == CTLZ || kind == CTTZ);
			const struct lane *lane =
				&lanes[op->in[k] + (is_plain ? 0 : i)];

			in[k] = lane->bits;
			is_poison = is_poison || lane->is_poison;
			is_open = is_open || lane->is_open;
		}
		if (is_poison)
			lanes[op->out + i] = scalar_poison();
		else
			lanes[op->out + i] = kind >= FIRST_FLOAT
			                             ? floating(kind, op, in)
			                             : integer(kind, op, in);
		lanes[op->out + i].is_open |= is_open;
	}
}

static void run_reduction(const struct op *op, struct lane *lanes)
{
	const struct lane *in = lanes + op->in[0];
	struct lane sum = in[0];

	for (unsigned i = 1; i < op->from.count; i++) {
		sum.is_poison = sum.is_poison || in[i].is_poison;
		sum.is_open = sum.is_open || in[i].is_open;
		switch (op->detail) {
		case REDUCE_ADD:
			sum.bits += in[i].bits;
			break;
		case REDUCE_MUL:
			sum.bits *= in[i].bits;
			break;
		case REDUCE_AND:
			sum.bits &= in[i].bits;
			break;
		case REDUCE_OR:
			sum.bits |= in[i].bits;
			break;
		default:
			sum.bits ^= in[i].bits;
			break;
		}
	}
	sum.bits &= scalar_mask(op->shape.width);
	lanes[op->out] = sum;
}

static void run_overflow(const struct op *op, struct lane *lanes)
{
	const struct lane a = lanes[op->in[0]];
	const struct lane b = lanes[op->in[1]];
	const unsigned width = op->from.width;
	const bool is_signed = op->detail == SADD_OVER ||
	                       op->detail == SSUB_OVER ||
	                       op->detail == SMUL_OVER;
	const wide x =
		is_signed ? (wide)scalar_signed(a.bits, width) : (wide)a.bits;
	const wide y =
		is_signed ? (wide)scalar_signed(b.bits, width) : (wide)b.bits;
	wide value = x * y;
	struct lane *out = lanes + op->out;

	if (op->detail == SADD_OVER || op->detail == UADD_OVER)
		value = x + y;
	else if (op->detail == SSUB_OVER || op->detail == USUB_OVER)
		value = x - y;
	out[0] = scalar_number((uint64_t)value, width);
	out[1] = scalar_number(
		value != (is_signed ? (wide)scalar_signed(out[0].bits, width)
	                            : (wide)out[0].bits),
		1);
	out[0].is_poison = out[1].is_poison = a.is_poison || b.is_poison;
	out[0].is_open = out[1].is_open = a.is_open || b.is_open;
}

/*
 * A copy of so few bytes may become one of an integer, as LLVM has it: that is
 * poison where one of its bytes is.
 */
static void mix_poison(unsigned char *poison, uint64_t size)
{
	unsigned char is = MACHINE_NUMBER;

	if (size > 8 || (size & (size - 1)) != 0)
		return;
	for (uint64_t i = 0; i < size; i++) {
		if (is != MACHINE_POISON && poison[i] != MACHINE_NUMBER)
			is = poison[i];
	}
	memset(poison, is, size);
}

static void run_copy(struct machine *machine, const struct op *op,
                     const struct lane *lanes)
{
	const struct lane to = lanes[op->in[0]];
	const struct lane from = lanes[op->in[1]];
	const struct lane size = lanes[op->in[2]];
	const bool is_copy = op->detail == MEMCPY;
	struct object *source;
	struct object *target;

	machine_decide(machine, to);
	machine_decide(machine, size);
	if (to.is_poison || size.is_poison || (is_copy && from.is_poison)) {
		machine_stop(machine, MACHINE_UNDEFINED, "a poison copy");
		return;
	}
	if (size.bits == 0)
		return;
	source = is_copy ? machine_touch(machine, from.bits, size.bits, false)
	                 : NULL;
	target = machine_touch(machine, to.bits, size.bits, true);
	if (target == NULL || (is_copy && source == NULL))
		return;
	if (!is_copy) {
		memset(target->bytes + (to.bits - target->base), (int)from.bits,
		       size.bits);
		memset(target->poison + (to.bits - target->base),
		       from.is_poison, size.bits);
		return;
	}
	memmove(target->bytes + (to.bits - target->base),
	        source->bytes + (from.bits - source->base), size.bits);
	memmove(target->poison + (to.bits - target->base),
	        source->poison + (from.bits - source->base), size.bits);
	mix_poison(target->poison + (to.bits - target->base), size.bits);
}

/* Is a byte that others write poison, or chosen: perhaps what it was before? */
static bool has_open_byte(const struct machine *machine)
{
	for (size_t i = 0; i < machine->object_count; i++) {
		const struct object *object = &machine->objects[i];

		for (size_t k = 0; object->is_shared && k < object->size; k++) {
			if (object->poison[k] != MACHINE_NUMBER)
				return true;
		}
	}
	return false;
}

static void run_barrier(struct machine *machine)
{
	machine_note(machine, MACHINE_BARRIER, 0, scalar_number(0, 1));
	machine->strong++;
	if (machine->is_settled && !machine->is_seen && has_open_byte(machine))
		machine_stop(machine, MACHINE_OPEN, "a choice");
	if (machine->is_seen || machine_sum_up(machine) != machine->begun)
		machine_let_others_write(machine);
}

static struct lane special(const struct machine *machine, unsigned kind)
{
	switch (kind) {
	case THREAD:
		return scalar_number(machine->thread, 32);
	case LANE:
		return scalar_number(machine->thread % 32, 32);
	case BLOCK:
		return scalar_number(machine->block, 32);
	case THREADS:
		return scalar_number(64, 32);
	default:
		return scalar_number(4, 32);
	}
}

void intrinsic_run(struct machine *machine, const struct op *op,
                   struct lane *lanes)
{
	const unsigned kind = op->detail;

	if (kind == NOTHING)
		return;
	if (kind == ASSUME) {
		const struct lane is = lanes[op->in[0]];

		machine_decide(machine, is);
		if (is.is_poison || (is.bits & 1) == 0)
			machine_stop(machine, MACHINE_UNDEFINED,
			             "an assumption");
	} else if (kind == BARRIER) {
		run_barrier(machine);
	} else if (kind >= THREAD && kind <= BLOCKS) {
		lanes[op->out] = special(machine, kind);
	} else if (kind >= SADD_OVER && kind <= UMUL_OVER) {
		run_overflow(op, lanes);
	} else if (kind >= REDUCE_ADD && kind <= REDUCE_XOR) {
		run_reduction(op, lanes);
	} else if (kind == MEMCPY || kind == MEMSET) {
		run_copy(machine, op, lanes);
	} else {
		run_lanes(op, lanes);
	}
}
