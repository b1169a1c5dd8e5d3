/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/machine.h>

#include <stdlib.h>

#include "cache/elf.h"
#include "machine/nvml.h"
#include "tree/gpu.h"

struct tkb_machine {
	struct tkb_nvml nvml;
	struct tkb_machine_gpu *gpus; /* owned; the texts are in `nvml` */
};

TKB_AUTO_POINTER(close_at, struct tkb_machine, tkb_machine_close)

void tkb_machine_close(struct tkb_machine *machine)
{
	if (machine == NULL)
		return;
	free(machine->gpus);
	tkb_nvml_release(&machine->nvml);
	free(machine);
}

int tkb_machine_open(const char *nvml, struct tkb_machine **out,
                     struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_machine *machine = tkb_alloc_array(1, sizeof(*machine));
	const int rc = machine == NULL
	                       ? tkb_fail_nomem(err)
	                       : tkb_nvml_read(nvml, &machine->nvml, err);

	if (rc < 0)
		return rc;
	machine->gpus = tkb_alloc_array(machine->nvml.gpu_count,
	                                sizeof(*machine->gpus));
	if (machine->gpus == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < machine->nvml.gpu_count; i++) {
		const struct tkb_gpu *gpu = &machine->nvml.gpus[i];

		machine->gpus[i] = (struct tkb_machine_gpu){
			.name = gpu->name,
			.uuid = gpu->uuid,
			.major = (uint32_t)gpu->major,
			.minor = (uint32_t)gpu->minor,
			.is_visible = tkb_nvml_is_visible(&machine->nvml, i),
		};
	}
	*out = tkb_take(machine);
	return 0;
}

size_t tkb_machine_gpu_count(const struct tkb_machine *machine)
{
	return machine->nvml.gpu_count;
}

const struct tkb_machine_gpu *tkb_machine_gpu(const struct tkb_machine *machine,
                                              size_t index)
{
	return &machine->gpus[index];
}

const char *tkb_machine_driver(const struct tkb_machine *machine)
{
	return machine->nvml.driver;
}

uint32_t tkb_machine_cuda(const struct tkb_machine *machine)
{
	return machine->nvml.cuda < 0 ? 0 : (uint32_t)machine->nvml.cuda;
}

const char *tkb_machine_why(const struct tkb_machine *machine)
{
	return machine->nvml.why;
}

int tkb_platform_check(const char *platform, struct tkb_error *err)
{
	struct tkb_gpu_here here = { .is_asked = false };
	const int rc =
		tkb_gpu_is_platform(platform) ? tkb_gpu_ask(&here, err) : 0;

	if (rc < 0)
		return rc;
	return tkb_platform_fits(platform, &here) ? 0 : TKB_MISS;
}
