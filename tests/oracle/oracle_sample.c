/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle_sample.h"

#include <stdlib.h>

enum {
	THREADS = 3
};

const char *const sample_names[GENERATE_POINTERS] = { "a", "b", "c", "d" };

static bool has_attribute(LLVMValueRef kernel, unsigned parameter,
                          const char *name, uint64_t *value)
{
	LLVMAttributeRef found = LLVMGetEnumAttributeAtIndex(
		kernel, parameter + 1,
		LLVMGetEnumAttributeKindForName(name, strlen(name)));

	if (found != NULL && value != NULL)
		*value = LLVMGetEnumAttributeValue(found);
	return found != NULL;
}

/* Places: as aligned as is said, and in every other input no better. */
static void place(struct input *input, LLVMValueRef kernel, unsigned which,
                  unsigned number)
{
	const uint64_t slot = (UINT64_C(1) << 44) + ((uint64_t)which << 24);
	const unsigned other =
		(unsigned)(rewrite_draw(&input->state) % GENERATE_POINTERS);
	uint64_t align = 1;
	uint64_t other_align = 1;

	(void)has_attribute(kernel, which, "align", &align);
	(void)has_attribute(kernel, other, "align", &other_align);
	input->same_as[which] = -1;
	input->bases[which] = slot + (number % 2 == 0 ? 256 : align);
	input->is_shared[which] =
		!has_attribute(kernel, which, "noalias", NULL);
	if (number < SAMPLE_ALIASED || other >= which ||
	    !input->is_shared[which] || !input->is_shared[other] ||
	    other_align < align || input->same_as[other] >= 0)
		return;
	input->same_as[which] = (int)other;
	input->bases[which] =
		input->bases[other] +
		align * (rewrite_draw(&input->state) % (16 / align + 1));
}

void sample_make_input(struct input *input, LLVMValueRef kernel,
                       unsigned number)
{
	*input = (struct input){ .state = number };
	for (unsigned i = 0; i < GENERATE_POINTERS; i++) {
		place(input, kernel, i, number);
		input->arguments[i] = scalar_number(input->bases[i], 64);
	}
	input->arguments[GENERATE_POINTERS] =
		scalar_number(rewrite_draw(&input->state) % 8, 32);
	input->arguments[GENERATE_POINTERS + 1] =
		scalar_number(rewrite_draw(&input->state) % 8, 64);
}

static const unsigned char edges[] = { 0, 1, 2, 127, 128, 129, 254, 255 };

void sample_fill(unsigned char *bytes, size_t size, unsigned which,
                 unsigned number)
{
	uint64_t state = machine_mix(number, which);

	for (size_t i = 0; i < size; i++) {
		const uint64_t drawn = rewrite_draw(&state);

		bytes[i] = number % 2 == 0 ? (unsigned char)drawn
		                           : edges[drawn % sizeof(edges)];
	}
}

void sample_add_memory(struct machine *machine, const struct input *input,
                       unsigned number, const struct outcome_of *limit)
{
	for (unsigned i = 0; i < GENERATE_POINTERS; i++) {
		struct object *object;
		size_t size = GENERATE_SIZE;

		if (input->same_as[i] >= 0)
			continue;
		/* What begins behind it ends behind it. */
		for (unsigned k = 0; k < GENERATE_POINTERS; k++) {
			if (input->same_as[k] == (int)i)
				size = GENERATE_SIZE + 16;
		}
		object = machine_add_object(machine, sample_names[i],
		                            input->bases[i], size);
		sample_fill(object->bytes, object->size, i, number);
		object->is_shared = input->is_shared[i];
		if (limit == NULL)
			continue;
		object->is_limited = true;
		memcpy(object->touched, limit->touched[i], GENERATE_SIZE);
		for (unsigned k = 0; k < GENERATE_POINTERS; k++) {
			const uint64_t behind =
				input->bases[k] - input->bases[i];

			for (size_t at = 0;
			     input->same_as[k] == (int)i && at < GENERATE_SIZE;
			     at++)
				object->touched[behind + at] |=
					limit->touched[k][at];
		}
	}
}

static void copy_memory(struct machine *machine, const struct input *input,
                        struct outcome_of *out)
{
	for (unsigned i = 0; i < GENERATE_POINTERS; i++) {
		const struct object *object =
			machine_find(machine, input->bases[i]);
		const size_t at = input->bases[i] - object->base;

		memcpy(out->bytes[i], object->bytes + at, GENERATE_SIZE);
		memcpy(out->poison[i], object->poison + at, GENERATE_SIZE);
		memcpy(out->touched[i], object->touched + at, GENERATE_SIZE);
	}
	free(out->events);
	out->event_count = machine->event_count;
	out->events =
		machine_alloc(machine->event_count * sizeof(*out->events));
	if (machine->event_count != 0)
		memcpy(out->events, machine->events,
		       machine->event_count * sizeof(*out->events));
	out->has_choices = machine->choices != 0;
	out->end = machine->end;
	out->why = machine->unknown;
}

void sample_run(struct machine *machine, const struct input *input,
                unsigned number, uint64_t seed, const struct outcome_of *limit,
                struct outcome_of *out)
{
	static const uint32_t threads[THREADS] = { 0, 1, 6 };
	/* What one leaves behind, the next may hide by writing it again. */
	const unsigned count = number % 2 == 0 ? 1 : THREADS;

	machine_reset(machine);
	machine->seed = seed;
	sample_add_memory(machine, input, number, limit);
	for (unsigned i = 0; i < count && machine->end == MACHINE_DONE; i++) {
		machine->thread = threads[i];
		machine->block = i / 2;
		(void)machine_run(machine, "kernel", input->arguments);
	}
	copy_memory(machine, input, out);
}
