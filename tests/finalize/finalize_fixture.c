/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize_fixture.h"

#include <llvm-c/Target.h>

#include "llvm/llvm_module.h"

struct tkb_bytes ir_file(const char *name)
{
	return ir_text(text("finalize/%s", name));
}

static void dispose_machine(void *machine)
{
	LLVMDisposeTargetMachine(machine);
}

LLVMTargetMachineRef nvptx(void)
{
	static const char triple[] = "nvptx64-nvidia-cuda";
	static bool has_options;
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMTargetRef target = NULL;
	LLVMTargetMachineRef machine;

	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
	if (!has_options)
		llvm_set_options(NULL, 0);
	has_options = true;
	if (LLVMGetTargetFromTriple(triple, &target, &message))
		fail_msg("%s", message);
	machine = LLVMCreateTargetMachine(target, triple, "sm_90a", "+ptx86",
	                                  LLVMCodeGenLevelAggressive,
	                                  LLVMRelocPIC, LLVMCodeModelDefault);
	at_end(dispose_machine, machine);
	return machine;
}

const char *print_ir(LLVMModuleRef module)
{
	AUTO_LLVM_MESSAGE all = NULL;

	LLVMSetModuleIdentifier(module, "m", 1);
	LLVMSetSourceFileName(module, "m", 1);
	all = LLVMPrintModuleToString(module);
	return text("%s", all);
}

void choose_only(const char *step, const char *names[32],
                 struct finalize_request *order)
{
	const size_t count = tkb_finalize_step_count();

	order->without.items = names;
	for (size_t i = 0; i + 1 < count; i++) {
		if (strcmp(tkb_finalize_step_name(i), step) != 0)
			names[order->without.count++] =
				tkb_finalize_step_name(i);
	}
	CHECK_INT(order->without.count, count - 2); /* there is such a step */
}

const char *finalize_ok(LLVMModuleRef module, LLVMTargetMachineRef machine,
                        const struct finalize_request *order)
{
	BUF(log, 1 << 20);
	const struct tkb_sink sink = tkb_buf_sink(&log);

	OK(finalize_module(module, machine, order, &sink, ERR));
	tkb_buf_add_byte(&log, '\0');
	return text("%s", (const char *)log.data);
}
