/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle_gpu.h"

#include <stdlib.h>

#include "llvm/llvm_module.h"
#include "oracle_sample.h"

enum {
	INPUTS = SAMPLE_ALIASED, /* each pointer has memory of its own */
	FIRST_SEED = 1
};

static void add_number(struct tkb_buf *out, uint64_t number)
{
	tkb_buf_add(out, (struct tkb_bytes){ &number, sizeof(number) });
}

/* Where the pointers point, behind what is a multiple of 256; and n and m. */
static void add_arguments(struct tkb_buf *out, const struct input *input)
{
	for (unsigned i = 0; i < GENERATE_POINTERS; i++)
		add_number(out, input->bases[i] % 256);
	for (unsigned i = GENERATE_POINTERS; i < SAMPLE_ARGUMENTS; i++)
		add_number(out, input->arguments[i].bits);
}

static void add_memory(struct tkb_buf *out, struct machine *machine,
                       const struct input *input)
{
	for (unsigned i = 0; i < GENERATE_POINTERS; i++) {
		const struct object *object =
			machine_find(machine, input->bases[i]);

		tkb_buf_add(out,
		            (struct tkb_bytes){ object->bytes, GENERATE_SIZE });
	}
}

static bool is_all_settled(struct machine *machine, const struct input *input)
{
	for (unsigned i = 0; i < GENERATE_POINTERS; i++) {
		const struct object *object =
			machine_find(machine, input->bases[i]);

		for (size_t at = 0; at < GENERATE_SIZE; at++) {
			if (object->poison[at] != MACHINE_NUMBER)
				return false;
		}
	}
	return true;
}

/* One thread, and nobody else. */
static bool add_input(struct tkb_buf *out, struct machine *machine,
                      unsigned number)
{
	struct input input;

	sample_make_input(&input,
	                  LLVMGetNamedFunction(machine->module, "kernel"),
	                  number);
	for (unsigned i = 0; i < GENERATE_POINTERS; i++)
		input.is_shared[i] = false;
	machine_reset(machine);
	machine->is_settled = true;
	sample_add_memory(machine, &input, number, NULL);
	add_arguments(out, &input);
	add_memory(out, machine, &input);
	if (machine_run(machine, "kernel", input.arguments) != MACHINE_DONE)
		return false;
	add_memory(out, machine, &input);
	return is_all_settled(machine, &input);
}

static bool write_kernel(LLVMTargetMachineRef target, const char *folder,
                         unsigned number, uint64_t seed)
{
	const struct generate_options options = { .for_gpu = true };
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	TKB_AUTO(tkb_buf_release) struct tkb_buf ir = TKB_BUF_INIT(1 << 22);
	TKB_AUTO(tkb_buf_release) struct tkb_buf io = TKB_BUF_INIT(1 << 20);
	AUTO_LLVM(LLVMModuleRef) module = NULL;
	struct machine machine;
	bool is_good = true;

	generate_ir(seed, &options, &ir);
	module = parse_ir(context, (struct tkb_bytes){ ir.data, ir.size - 1 });
	llvm_set_layout(module, target);
	machine_open(&machine, module);
	for (unsigned i = 0; i < INPUTS && is_good; i++)
		is_good = add_input(&io, &machine, i);
	machine_close(&machine);
	if (!is_good)
		return false;
	write_file(text("%s/%u.ll", folder, number),
	           (struct tkb_bytes){ ir.data, ir.size - 1 });
	write_file(text("%s/%u.io", folder, number), tkb_buf_bytes(&io));
	return true;
}

void oracle_write_kernels(const char *folder, unsigned count)
{
	LLVMTargetMachineRef target = nvptx();
	uint64_t seed = FIRST_SEED;

	for (unsigned i = 0; i < count;)
		i += write_kernel(target, folder, i, seed++);
}
