/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <stdlib.h>
#include <string.h>

/* What each instruction does. */

enum {
	DEPTH_LIMIT = 32,
	MOVED_LIMIT = 4096 /* lanes of a block's phis */
};

/* Kinds of events. */
enum {
	EVENT_LOAD = 1,
	EVENT_STORE,
	EVENT_RMW,
	EVENT_EXCHANGE,
	EVENT_CALL
};

struct frame {
	struct machine *machine;
	const struct code *code;
	struct lane *lanes;
	uint32_t block;
	uint32_t at; /* which op comes next */
	struct lane *result;
	bool is_over;
};

static bool call(struct machine *machine, LLVMValueRef function,
                 const struct lane *arguments, struct lane *result);

/* A condition: poison ends the run. */
static bool is_true(struct frame *frame, struct lane lane)
{
	machine_decide(frame->machine, lane);
	if (lane.is_poison)
		machine_stop(frame->machine, MACHINE_UNDEFINED,
		             "a branch by poison");
	return (lane.bits & 1) != 0;
}

/* Phis take their values all at once. */
static void enter(struct frame *frame, uint32_t to)
{
	const struct code *code = frame->code;
	struct lane moved[MOVED_LIMIT];
	uint32_t at = code->blocks[to];
	size_t count = 0;

	for (; code->ops[at].opcode == LLVMPHI; at++) {
		const struct op *op = &code->ops[at];
		unsigned from = 0;

		while (op->targets[from] != frame->block)
			from++;
		if (count + op->shape.count > MOVED_LIMIT) {
			machine_stop(frame->machine, MACHINE_UNKNOWN, "phis");
			return;
		}
		memcpy(moved + count, frame->lanes + op->in[from],
		       op->shape.count * sizeof(*moved));
		count += op->shape.count;
	}
	count = 0;
	for (uint32_t i = code->blocks[to]; i < at; i++) {
		const struct op *op = &code->ops[i];

		memcpy(frame->lanes + op->out, moved + count,
		       op->shape.count * sizeof(*moved));
		count += op->shape.count;
	}
	frame->block = to;
	frame->at = at;
}

static void run_switch(struct frame *frame, const struct op *op)
{
	const struct lane value = frame->lanes[op->in[0]];
	unsigned to = 0;

	(void)is_true(frame, value);
	for (unsigned i = 1; i < op->target_count; i++) {
		if (LLVMConstIntGetZExtValue(
			    LLVMGetSwitchCaseValue(op->value, i)) == value.bits)
			to = i;
	}
	enter(frame, op->targets[to]);
}

static void run_select(struct frame *frame, const struct op *op)
{
	struct lane *out = frame->lanes + op->out;

	for (unsigned i = 0; i < op->shape.count; i++) {
		const unsigned at = op->from.count > 1 ? i : 0;
		const struct lane by = frame->lanes[op->in[0] + at];

		out[i] =
			by.is_poison
				? by
				: frame->lanes[op->in[by.bits & 1 ? 1 : 2] + i];
		out[i].is_open = out[i].is_open || by.is_open;
	}
}

static void run_shuffle(struct frame *frame, const struct op *op)
{
	struct lane *out = frame->lanes + op->out;

	for (unsigned i = 0; i < op->shape.count; i++) {
		const int from = op->mask[i];
		const int size = (int)op->from.count;

		if (from < 0)
			out[i] = scalar_poison();
		else
			out[i] = frame->lanes
			                 [from < size
			                          ? op->in[0] + (uint32_t)from
			                          : op->in[1] +
			                                    (uint32_t)(from -
			                                               size)];
	}
}

static void run_element(struct frame *frame, const struct op *op)
{
	const bool is_insert = op->opcode == LLVMInsertElement;
	const struct lane index = frame->lanes[op->in[is_insert ? 2 : 1]];
	struct lane *out = frame->lanes + op->out;
	const bool is_bad = index.is_poison || index.bits >= op->from.count;

	machine_decide(frame->machine, index);
	if (!is_insert) {
		*out = is_bad ? scalar_poison()
		              : frame->lanes[op->in[0] + index.bits];
		return;
	}
	for (unsigned i = 0; i < op->shape.count; i++)
		out[i] = is_bad            ? scalar_poison()
		         : i == index.bits ? frame->lanes[op->in[1]]
		                           : frame->lanes[op->in[0] + i];
}

__extension__ typedef __int128 wide;

static void run_address(struct frame *frame, const struct op *op)
{
	struct lane address = frame->lanes[op->in[0]];
	struct lane *out = frame->lanes + op->out;
	wide sum = op->offset;
	bool is_negative = op->offset < 0;
	bool is_open = address.is_open;
	const struct object *object;
	uint64_t to;

	*out = scalar_poison();
	if (address.is_poison)
		return;
	for (unsigned i = 0; i < op->step_count; i++) {
		const struct step *step = &op->steps[i];
		const struct lane index = frame->lanes[step->slot];
		const int64_t number = scalar_signed(index.bits, step->width);

		if (index.is_poison)
			return;
		is_negative = is_negative || number < 0;
		is_open = is_open || index.is_open;
		sum += (wide)number * step->scale;
	}
	to = address.bits + (uint64_t)sum;
	if ((op->flags & LLVMGEPFlagNUSW) != 0 && sum != (wide)(int64_t)sum)
		return;
	if ((op->flags & LLVMGEPFlagNUW) != 0 &&
	    (is_negative || (wide)address.bits + sum > (wide)UINT64_MAX))
		return;
	object = machine_find(frame->machine, address.bits);
	if ((op->flags & LLVMGEPFlagInBounds) != 0 && sum != 0 &&
	    (object == NULL || to < object->base ||
	     to > object->base + object->size))
		return;
	*out = scalar_number(to, 64);
	out->is_open = is_open;
}

/* Only what all lanes tell together can be seen; one poison spoils it. */
static struct lane sum_up(const struct lane *lanes, unsigned count)
{
	struct lane sum = { .bits = 0 };

	for (unsigned i = 0; i < count; i++) {
		sum.is_poison = sum.is_poison || lanes[i].is_poison;
		sum.is_open = sum.is_open || lanes[i].is_open;
		sum.bits = machine_mix(sum.bits, lanes[i].bits);
	}
	return sum;
}

/*
 * What is volatile may change at any time: a read gives what nobody wrote here.
 * Whether a plain read comes upon that, too, is not said: it is a race. So what is
 * plain may take the value of what is volatile, but not the other way round.
 */
static void let_race(struct machine *machine, const struct op *op,
                     struct lane address, struct lane *out)
{
	const uint64_t by = machine_mix(machine->event_count, 1);
	const size_t size = (size_t)op->shape.count * op->shape.width / 8;
	const struct object *object = machine_find(machine, address.bits);

	if (op->shape.kind != SHAPE_INTEGER || by % 2 == 0 ||
	    !LLVMGetVolatile(op->value) || !object->is_shared)
		return;
	for (unsigned i = 0; i < op->shape.count; i++)
		out[i] = scalar_number(machine_mix(by, i), op->shape.width);
	memset(object->poison + (address.bits - object->base), MACHINE_POISON,
	       size);
}

/* Of what nobody writes, an atomic read is like any other. */
static bool is_seen(struct machine *machine, const struct op *op,
                    struct lane address)
{
	const struct object *object = machine_find(machine, address.bits);

	return op->is_strong && (LLVMGetVolatile(op->value) || object == NULL ||
	                         !object->is_constant);
}

static void run_load(struct frame *frame, const struct op *op)
{
	const struct lane address = frame->lanes[op->in[0]];
	struct lane *out = frame->lanes + op->out;

	machine_load(frame->machine, op, op->shape, address, out);
	if (op->is_strong && frame->machine->end == MACHINE_DONE)
		let_race(frame->machine, op, address, out);
	if (frame->machine->end == MACHINE_DONE &&
	    is_seen(frame->machine, op, address))
		machine_note(frame->machine,
		             EVENT_LOAD * 4096 +
		                     op->shape.count * op->shape.width,
		             address.bits, sum_up(out, op->shape.count));
}

static void run_store(struct frame *frame, const struct op *op)
{
	const struct lane address = frame->lanes[op->in[1]];
	const struct lane *in = frame->lanes + op->in[0];

	machine_store(frame->machine, op, op->from, address, in);
	if (op->is_strong && frame->machine->end == MACHINE_DONE)
		machine_note(frame->machine,
		             EVENT_STORE * 4096 +
		                     op->from.count * op->from.width,
		             address.bits, sum_up(in, op->from.count));
}

static void run_rmw(struct frame *frame, const struct op *op)
{
	struct machine *machine = frame->machine;
	const struct lane address = frame->lanes[op->in[0]];
	const struct lane by = frame->lanes[op->in[1]];
	struct lane *out = frame->lanes + op->out;
	struct lane next = scalar_poison();

	if (op->shape.kind != SHAPE_INTEGER ||
	    LLVMGetAtomicRMWBinOp(op->value) > LLVMAtomicRMWBinOpUMin ||
	    LLVMGetAtomicRMWBinOp(op->value) == LLVMAtomicRMWBinOpNand)
		machine_stop(machine, MACHINE_UNKNOWN, "an atomic operation");
	machine_load(machine, op, op->shape, address, out);
	if (machine->end != MACHINE_DONE)
		return;
	if (!out->is_poison && !by.is_poison)
		next = scalar_number(
			scalar_combine(LLVMGetAtomicRMWBinOp(op->value),
		                       out->bits, by.bits, op->shape.width),
			op->shape.width);
	next.is_open = out->is_open || by.is_open;
	machine_store(machine, op, op->shape, address, &next);
	machine_note(machine, EVENT_RMW * 4096, address.bits, next);
}

static void run_exchange(struct frame *frame, const struct op *op)
{
	struct machine *machine = frame->machine;
	const struct lane address = frame->lanes[op->in[0]];
	const struct lane wanted = frame->lanes[op->in[1]];
	struct lane *out = frame->lanes + op->out;
	const struct shape shape = machine_shape(
		machine, LLVMTypeOf(LLVMGetOperand(op->value, 1)));

	machine_load(machine, op, shape, address, out);
	if (machine->end != MACHINE_DONE)
		return;
	if (out->is_poison || wanted.is_poison) {
		machine_stop(machine, MACHINE_UNDEFINED, "poison compared");
		return;
	}
	machine_decide(machine, *out);
	machine_decide(machine, wanted);
	out[1] = scalar_number(out->bits == wanted.bits, 1);
	if (out[1].bits != 0)
		machine_store(machine, op, shape, address,
		              frame->lanes + op->in[2]);
	machine_note(machine, EVENT_EXCHANGE * 4096, address.bits, *out);
}

static void run_alloca(struct frame *frame, const struct op *op)
{
	struct machine *machine = frame->machine;
	const uint64_t count = frame->lanes[op->in[0]].bits;
	const uint64_t size =
		count * LLVMABISizeOfType(machine->layout,
	                                  LLVMGetAllocatedType(op->value));
	const unsigned align = LLVMGetAlignment(op->value);
	const uint64_t base =
		(UINT64_C(1) << 40) + (machine->object_count << 20) + align;
	struct object *object;

	if (size > 1 << 16) {
		machine_stop(machine, MACHINE_UNKNOWN, "a large alloca");
		return;
	}
	object = machine_add_object(machine, "", base, size);
	memset(object->poison, 1, size);
	frame->lanes[op->out] = scalar_number(base, 64);
}

/* What is not known may do anything that another module could. */
static void run_unknown_call(struct frame *frame, const struct op *op,
                             const char *name)
{
	struct machine *machine = frame->machine;
	uint64_t hash = 1;
	struct lane seen;
	LLVMValueRef callee = LLVMGetCalledValue(op->value);
	const unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
	LLVMAttributeRef effects = LLVMGetEnumAttributeAtIndex(
		callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, memory);
	const bool is_pure =
		effects != NULL && LLVMGetEnumAttributeValue(effects) == 0;

	for (const char *at = name; *at != '\0'; at++)
		hash = machine_mix(hash, (unsigned char)*at);
	seen = sum_up(frame->lanes + (op->in_count > 1 ? op->in[0] : 0),
	              op->in_count > 1 ? 1 : 0);
	if (!is_pure) {
		machine_note(machine, EVENT_CALL * 4096 + hash, 0, seen);
		machine->strong++;
		machine_let_others_write(machine);
	}
	for (unsigned i = 0; i < op->shape.count; i++)
		frame->lanes[op->out + i] =
			seen.is_poison
				? seen
				: scalar_number(
					  machine_mix(hash, seen.bits + i),
					  op->shape.width);
}

static void run_call(struct frame *frame, const struct op *op)
{
	struct machine *machine = frame->machine;
	LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(op->value));
	const struct lane target = frame->lanes[op->in[op->in_count - 1]];
	struct lane arguments[128];
	const struct object *object;
	size_t length = 0;
	size_t count = 0;

	if (op->read != NULL) {
		asm_run(machine, op, frame->lanes);
		return;
	}
	if (op->detail != 0) {
		intrinsic_run(machine, op, frame->lanes);
		return;
	}
	object = target.is_poison ? NULL : machine_find(machine, target.bits);
	if (callee == NULL && object != NULL)
		callee = LLVMGetNamedFunction(machine->module, object->name);
	if (callee == NULL || LLVMGlobalGetValueType(callee) !=
	                              LLVMGetCalledFunctionType(op->value)) {
		machine_stop(machine, MACHINE_UNDEFINED, "a call of nothing");
		return;
	}
	if (LLVMIsDeclaration(callee)) {
		const char *name = LLVMGetValueName2(callee, &length);

		if (strncmp(name, "llvm.", 5) == 0)
			machine_stop(machine, MACHINE_UNKNOWN, name);
		run_unknown_call(frame, op, name);
		return;
	}
	for (unsigned i = 0; i + 1 < op->in_count; i++) {
		const struct shape shape = machine_shape(
			machine, LLVMTypeOf(LLVMGetOperand(op->value, i)));

		if (count + shape.count > 128) {
			machine_stop(machine, MACHINE_UNKNOWN, "arguments");
			return;
		}
		memcpy(arguments + count, frame->lanes + op->in[i],
		       shape.count * sizeof(*arguments));
		count += shape.count;
	}
	(void)call(machine, callee, arguments, frame->lanes + op->out);
}

static void run_return(struct frame *frame, const struct op *op)
{
	if (op->in_count > 0 && frame->result != NULL)
		memcpy(frame->result, frame->lanes + op->in[0],
		       op->from.count * sizeof(*frame->result));
	frame->is_over = true;
}

static void run_plain(struct frame *frame, const struct op *op)
{
	struct lane *out = frame->lanes + op->out;
	const struct lane *a = frame->lanes + op->in[0];
	const struct lane *b =
		op->in_count > 1 ? frame->lanes + op->in[1] : NULL;

	for (unsigned i = 0; i < op->shape.count; i++) {
		switch ((int)op->opcode) {
		case LLVMICmp:
		case LLVMFCmp:
			out[i] = scalar_compare(op, a[i], b[i]);
			break;
		case LLVMFNeg:
			out[i] = a[i];
			out[i].bits ^= UINT64_C(1) << (op->shape.width - 1);
			break;
		case LLVMFreeze:
			out[i] = a[i];
			if (!a[i].is_poison)
				break;
			out[i] = scalar_number(
				machine_mix(frame->machine->seed,
			                    ++frame->machine->choices),
				op->shape.width);
			out[i].is_open = true;
			break;
		default:
			out[i] = b != NULL ? scalar_binary(frame->machine, op,
			                                   a[i], b[i])
			                   : scalar_cast(op, a[i]);
			break;
		}
		out[i].is_open = out[i].is_open || a[i].is_open ||
		                 (b != NULL && b[i].is_open);
	}
}

static void run_aggregate(struct frame *frame, const struct op *op)
{
	struct lane *out = frame->lanes + op->out;

	if (op->opcode == LLVMExtractValue) {
		memcpy(out, frame->lanes + op->in[0] + op->detail,
		       op->shape.count * sizeof(*out));
		return;
	}
	memcpy(out, frame->lanes + op->in[0], op->shape.count * sizeof(*out));
	out[op->detail] = frame->lanes[op->in[1]];
}

static void run_terminator(struct frame *frame, const struct op *op)
{
	unsigned to = 0;

	switch ((int)op->opcode) {
	case LLVMBr:
		if (op->target_count == 2)
			to = is_true(frame, frame->lanes[op->in[0]]) ? 0 : 1;
		if (frame->machine->end == MACHINE_DONE)
			enter(frame, op->targets[to]);
		break;
	case LLVMSwitch:
		run_switch(frame, op);
		break;
	case LLVMRet:
		run_return(frame, op);
		break;
	default:
		machine_stop(frame->machine,
		             op->opcode == LLVMUnreachable ? MACHINE_UNDEFINED
		                                           : MACHINE_UNKNOWN,
		             "a terminator");
		break;
	}
}

static void run_memory(struct frame *frame, const struct op *op)
{
	switch ((int)op->opcode) {
	case LLVMLoad:
		run_load(frame, op);
		break;
	case LLVMStore:
		run_store(frame, op);
		break;
	case LLVMAtomicRMW:
		run_rmw(frame, op);
		break;
	case LLVMAtomicCmpXchg:
		run_exchange(frame, op);
		break;
	default: /* a second fence changes nothing, and may go */
		machine_let_others_write(frame->machine);
		return;
	}
	if (op->is_fence) {
		frame->machine->strong++;
		machine_let_others_write(frame->machine);
	}
}

static void run_op(struct frame *frame, const struct op *op)
{
	if (op->is_wide) {
		wide_run(op, frame->lanes);
		return;
	}
	switch ((int)op->opcode) {
	case LLVMLoad:
	case LLVMStore:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		run_memory(frame, op);
		break;
	case LLVMAlloca:
		run_alloca(frame, op);
		break;
	case LLVMGetElementPtr:
		run_address(frame, op);
		break;
	case LLVMSelect:
		run_select(frame, op);
		break;
	case LLVMBitCast:
		scalar_bitcast(op->shape, op->from, frame->lanes + op->in[0],
		               frame->lanes + op->out);
		break;
	case LLVMShuffleVector:
		run_shuffle(frame, op);
		break;
	case LLVMExtractElement:
	case LLVMInsertElement:
		run_element(frame, op);
		break;
	case LLVMExtractValue:
	case LLVMInsertValue:
		run_aggregate(frame, op);
		break;
	case LLVMCall:
		run_call(frame, op);
		break;
	case LLVMBr:
	case LLVMSwitch:
	case LLVMRet:
	case LLVMUnreachable:
		run_terminator(frame, op);
		break;
	default:
		run_plain(frame, op);
		break;
	}
}

static bool call(struct machine *machine, LLVMValueRef function,
                 const struct lane *arguments, struct lane *result)
{
	struct frame frame = { .machine = machine, .result = result };
	const struct code *code = machine_code(machine, function);
	size_t size = code->lane_count * sizeof(*frame.lanes);

	if (machine->end != MACHINE_DONE)
		return false;
	if (++machine->depth > DEPTH_LIMIT)
		machine_stop(machine, MACHINE_ENDLESS, "too many calls");
	frame.code = code;
	frame.lanes = machine_alloc(size);
	if (size != 0)
		memcpy(frame.lanes, code->lanes, size);
	for (unsigned i = 0; i < code->parameter_count; i++) {
		memcpy(frame.lanes + code->parameters[i], arguments,
		       code->parameter_shapes[i].count * sizeof(*arguments));
		arguments += code->parameter_shapes[i].count;
	}
	while (!frame.is_over && machine->end == MACHINE_DONE) {
		if (++machine->steps > machine->step_limit)
			machine_stop(machine, MACHINE_ENDLESS, "too long");
		run_op(&frame, &code->ops[frame.at++]);
	}
	free(frame.lanes);
	machine->depth--;
	return machine->end == MACHINE_DONE;
}

enum machine_end machine_run(struct machine *machine, const char *name,
                             const struct lane *arguments)
{
	LLVMValueRef function = LLVMGetNamedFunction(machine->module, name);

	if (function == NULL || LLVMIsDeclaration(function))
		machine_stop(machine, MACHINE_UNKNOWN, "there is no kernel");
	machine->is_seen = false;
	machine->begun = machine_sum_up(machine);
	if (machine->end == MACHINE_DONE)
		(void)call(machine, function, arguments, NULL);
	return machine->end;
}
