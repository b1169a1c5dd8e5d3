/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Objects, and what reads and writes them. */

enum {
	OBJECT_DISTANCE = 1 << 20 /* nothing runs over into the next */
};

void *machine_alloc(size_t size)
{
	void *out = calloc(size == 0 ? 1 : size, 1);

	if (out == NULL)
		abort();
	return out;
}

void *machine_realloc(void *old, size_t size)
{
	void *out = realloc(old, size);

	if (out == NULL)
		abort();
	return out;
}

void machine_stop(struct machine *machine, enum machine_end end,
                  const char *why)
{
	if (machine->end != MACHINE_DONE)
		return;
	machine->end = end;
	machine->unknown = why;
}

uint64_t machine_mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct object *machine_add_object(struct machine *machine, const char *name,
                                  uint64_t base, size_t size)
{
	struct object *object;

	if (machine->object_count == machine->object_capacity) {
		machine->object_capacity = 2 * machine->object_capacity + 16;
		machine->objects = machine_realloc(
			machine->objects,
			machine->object_capacity * sizeof(*machine->objects));
	}
	object = &machine->objects[machine->object_count++];
	*object = (struct object){
		.name = name,
		.base = base,
		.size = size,
		.bytes = machine_alloc(size),
		.poison = machine_alloc(size),
		.touched = machine_alloc(size),
	};
	return object;
}

static void release_object(struct object *object)
{
	free(object->bytes);
	free(object->poison);
	free(object->touched);
	free(object->first);
	free(object->first_poison);
}

/* Put down a constant, lane after lane, by its type. */
static bool put_constant(struct machine *machine, struct object *object,
                         uint64_t at, LLVMValueRef constant)
{
	LLVMTypeRef type = LLVMTypeOf(constant);
	const LLVMTypeKind kind = LLVMGetTypeKind(type);
	const uint64_t size = LLVMStoreSizeOfType(machine->layout, type);
	const uint64_t count =
		kind == LLVMArrayTypeKind    ? LLVMGetArrayLength2(type)
		: kind == LLVMStructTypeKind ? LLVMCountStructElementTypes(type)
					     : 0;
	struct op op = { .align = 1 };
	struct lane lanes[64];

	if (LLVMIsNull(constant)) {
		memset(object->bytes + at, 0, size);
		memset(object->poison + at, 0, size);
		return true;
	}
	if (LLVMIsUndef(constant))
		return true;
	if (LLVMIsAConstantDataArray(constant) != NULL &&
	    LLVMIsConstantString(constant)) {
		size_t length = 0;

		memcpy(object->bytes + at, LLVMGetAsString(constant, &length),
		       size);
		memset(object->poison + at, 0, size);
		return true;
	}
	for (unsigned i = 0; i < (unsigned)count; i++) {
		const uint64_t part =
			kind == LLVMStructTypeKind
				? LLVMOffsetOfElement(machine->layout, type, i)
				: i * LLVMABISizeOfType(
					      machine->layout,
					      LLVMGetElementType(type));

		if (!put_constant(machine, object, at + part,
		                  LLVMGetAggregateElement(constant, i)))
			return false;
	}
	if (count != 0)
		return true;
	op.shape = machine_shape(machine, type);
	if (op.shape.kind == SHAPE_NONE || op.shape.count > 64 ||
	    !machine_constant(machine, constant, lanes))
		return false;
	machine_store(machine, &op, op.shape,
	              scalar_number(object->base + at, 64), lanes);
	return true;
}

static void fill_globals(struct machine *machine)
{
	for (size_t i = 0; i < machine->object_count; i++) {
		struct object *object = &machine->objects[i];
		LLVMValueRef global =
			LLVMGetNamedGlobal(machine->module, object->name);
		LLVMValueRef first =
			global == NULL ? NULL : LLVMGetInitializer(global);

		memset(object->poison, global != NULL, object->size);
		if (first != NULL && !put_constant(machine, object, 0, first))
			machine_stop(machine, MACHINE_UNKNOWN, "a constant");
		object->is_constant =
			global != NULL && LLVMIsGlobalConstant(global);
		object->first = machine_alloc(object->size);
		object->first_poison = machine_alloc(object->size);
		memcpy(object->first, object->bytes, object->size);
		memcpy(object->first_poison, object->poison, object->size);
	}
}

void machine_reset(struct machine *machine)
{
	size_t kept = 0;

	for (size_t i = 0; i < machine->object_count; i++) {
		struct object *object = &machine->objects[i];

		if (object->first == NULL) {
			release_object(object);
			continue;
		}
		memcpy(object->bytes, object->first, object->size);
		memcpy(object->poison, object->first_poison, object->size);
		memset(object->touched, 0, object->size);
		machine->objects[kept++] = *object;
	}
	machine->object_count = kept;
	machine->event_count = 0;
	machine->choices = 0;
	machine->strong = 0;
	machine->steps = 0;
	machine->depth = 0;
	if (machine->end != MACHINE_UNKNOWN)
		machine->end = MACHINE_DONE;
}

static void add_global(struct machine *machine, LLVMValueRef global)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(global);
	size_t length = 0;
	const char *name = LLVMGetValueName2(global, &length);
	uint64_t size = 1;
	unsigned align = 1;

	if (LLVMIsAGlobalVariable(global) != NULL) {
		size = LLVMABISizeOfType(machine->layout, type);
		align = LLVMGetAlignment(global);
		if (align == 0)
			align = LLVMPreferredAlignmentOfGlobal(machine->layout,
			                                       global);
	}
	if (align == 0)
		align = 1;
	/* Aligned so much, and no more. */
	(void)machine_add_object(
		machine, name,
		(machine->object_count + 1) * (uint64_t)OBJECT_DISTANCE + align,
		size);
}

void machine_open(struct machine *machine, LLVMModuleRef module)
{
	*machine = (struct machine){
		.module = module,
		.layout = LLVMGetModuleDataLayout(module),
		.step_limit = 100000,
	};
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at))
		add_global(machine, at);
	for (LLVMValueRef at = LLVMGetFirstGlobal(module); at != NULL;
	     at = LLVMGetNextGlobal(at))
		add_global(machine, at);
	fill_globals(machine);
}

void machine_close(struct machine *machine)
{
	for (size_t i = 0; i < machine->object_count; i++)
		release_object(&machine->objects[i]);
	for (size_t i = 0; i < machine->code_count; i++)
		machine_release_code(machine->codes[i]);
	free(machine->objects);
	free(machine->codes);
	free(machine->events);
}

struct object *machine_find(struct machine *machine, uint64_t address)
{
	for (size_t i = 0; i < machine->object_count; i++) {
		struct object *object = &machine->objects[i];

		if (address >= object->base &&
		    address <= object->base + object->size)
			return object;
	}
	return NULL;
}

struct object *machine_find_name(struct machine *machine, const char *name)
{
	for (size_t i = 0; i < machine->object_count; i++) {
		if (strcmp(machine->objects[i].name, name) == 0)
			return &machine->objects[i];
	}
	return NULL;
}

struct object *machine_touch(struct machine *machine, uint64_t address,
                             uint64_t size, bool is_write)
{
	struct object *object = machine_find(machine, address);
	uint64_t at;

	if (object == NULL || size > object->size ||
	    address - object->base > object->size - size) {
		machine_stop(machine, MACHINE_UNDEFINED, "outside of memory");
		return NULL;
	}
	if (is_write && object->is_constant && object->first != NULL) {
		machine_stop(machine, MACHINE_UNDEFINED, "a constant written");
		return NULL;
	}
	at = address - object->base;
	for (uint64_t i = 0; i < size; i++) {
		if (object->is_limited && object->touched[at + i] == 0) {
			machine_stop(machine, MACHINE_UNDEFINED,
			             "a byte that nobody touched before");
			return NULL;
		}
		object->touched[at + i] |= 1;
	}
	return object;
}

static uint64_t lane_size(struct shape shape)
{
	return (shape.width + 7) / 8;
}

void machine_decide(struct machine *machine, struct lane lane)
{
	if (lane.is_open && machine->is_settled)
		machine_stop(machine, MACHINE_OPEN, "a choice");
}

/* An address may be used only as it is said to be aligned. */
static bool is_usable(struct machine *machine, const struct op *op,
                      struct shape shape, struct lane address)
{
	if (shape.kind == SHAPE_STRUCT || shape.kind == SHAPE_NONE ||
	    (shape.count > 1 && shape.width % 8 != 0)) {
		machine_stop(machine, MACHINE_UNKNOWN, "a type in memory");
		return false;
	}
	machine_decide(machine, address);
	if (address.is_poison)
		machine_stop(machine, MACHINE_UNDEFINED, "a poison address");
	else if (op->align > 1 && address.bits % op->align != 0)
		machine_stop(machine, MACHINE_UNDEFINED, "not aligned");
	return machine->end == MACHINE_DONE;
}

void machine_load(struct machine *machine, const struct op *op,
                  struct shape shape, struct lane address, struct lane *out)
{
	const uint64_t size = lane_size(shape);
	struct object *object;
	uint64_t at;

	if (!is_usable(machine, op, shape, address))
		return;
	object =
		machine_touch(machine, address.bits, size * shape.count, false);
	if (object == NULL)
		return;
	at = address.bits - object->base;
	for (unsigned i = 0; i < shape.count; i++, at += size) {
		uint64_t bits = 0;
		struct lane *lane = &out[i];

		memcpy(&bits, object->bytes + at, size);
		*lane = scalar_number(bits, shape.width);
		for (uint64_t k = 0; k < size; k++) {
			const unsigned char is = object->poison[at + k];

			lane->is_poison =
				lane->is_poison || is == MACHINE_POISON;
			lane->is_open = lane->is_open || is == MACHINE_CHOSEN;
		}
	}
}

void machine_store(struct machine *machine, const struct op *op,
                   struct shape shape, struct lane address,
                   const struct lane *in)
{
	const uint64_t size = lane_size(shape);
	struct object *object;
	uint64_t at;

	if (!is_usable(machine, op, shape, address))
		return;
	object = machine_touch(machine, address.bits, size * shape.count, true);
	if (object == NULL)
		return;
	at = address.bits - object->base;
	for (unsigned i = 0; i < shape.count; i++, at += size) {
		memcpy(object->bytes + at, &in[i].bits, size);
		memset(object->poison + at,
		       in[i].is_poison ? MACHINE_POISON
		       : in[i].is_open ? MACHINE_CHOSEN
		                       : MACHINE_NUMBER,
		       size);
	}
}

/* By the object's name and what is behind, for places differ between modules. */
static uint64_t place_of(struct machine *machine, uint64_t address)
{
	const struct object *object = machine_find(machine, address);
	uint64_t hash = 1;

	if (object == NULL)
		return address;
	for (const char *at = object->name; *at != '\0'; at++)
		hash = machine_mix(hash, (unsigned char)*at);
	return machine_mix(hash, address - object->base);
}

uint64_t machine_sum_up(const struct machine *machine)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < machine->object_count; i++) {
		const struct object *object = &machine->objects[i];

		for (size_t k = 0; object->is_shared && k < object->size; k++)
			sum = machine_mix(sum, object->poison[k] * 256U +
			                               object->bytes[k]);
	}
	return sum;
}

void machine_note(struct machine *machine, uint64_t kind, uint64_t address,
                  struct lane value)
{
	machine->is_seen |= kind != MACHINE_BARRIER;
	if (machine->event_count == machine->event_capacity) {
		machine->event_capacity = 2 * machine->event_capacity + 16;
		machine->events = machine_realloc(
			machine->events,
			machine->event_capacity * sizeof(*machine->events));
	}
	machine->events[machine->event_count++] = (struct event){
		machine_mix(kind,
		            address == 0 ? 0 : place_of(machine, address)),
		value
	};
}

void machine_let_others_write(struct machine *machine)
{
	for (size_t i = 0; i < machine->object_count; i++) {
		struct object *object = &machine->objects[i];

		for (size_t k = 0; object->is_shared && k < object->size; k++) {
			const uint64_t by = machine_mix(machine->strong, k);

			if (by % 4 != 0)
				continue;
			object->bytes[k] = (unsigned char)(by >> 8);
			object->poison[k] = MACHINE_NUMBER;
		}
	}
}
