/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "worker/fail.h"

enum {
	FIRST_OF_ITS_OWN = 90,
	NEWEST_PTX = 90,  /* newest known to LLVM 22 */
	DEFAULT_PTX = 86, /* needed by Triton's kernels */
	NAMES_SIZE = 200
};

/* Targets of LLVM 22, and the first PTX version of each. */
static const struct gpu {
	uint32_t number;
	uint32_t first_ptx;
} gpus[] = {
	{ 50, 40 },  { 52, 41 },  { 53, 42 },  { 60, 50 },  { 61, 50 },
	{ 62, 50 },  { 70, 60 },  { 72, 61 },  { 75, 63 },  { 80, 70 },
	{ 86, 71 },  { 87, 74 },  { 88, 90 },  { 89, 78 },  { 90, 80 },
	{ 100, 86 }, { 101, 86 }, { 103, 88 }, { 110, 90 }, { 120, 87 },
	{ 121, 88 },
};

enum {
	GPU_COUNT = sizeof(gpus) / sizeof(gpus[0])
};

void gpu_name(const char *arch, char out[GPU_NAME_SIZE])
{
	(void)snprintf(out, GPU_NAME_SIZE, "sm_%.16s%s", arch,
	               strtol(arch, NULL, 10) >= FIRST_OF_ITS_OWN ? "a" : "");
}

static int fail_unknown_gpu(const char *arch, struct tkb_error *err)
{
	char names[NAMES_SIZE] = "";
	size_t used = 0;

	for (size_t i = 0; i < GPU_COUNT; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
		                         "%s%u", i == 0 ? "" : ", ",
		                         gpus[i].number);
	return fail(err, TKB_ERR_UNSUPPORTED,
	            "LLVM 22 cannot compile for GPU 'sm_%s', but for %s", arch,
	            names);
}

int gpu_choose_ptx(const char *arch, uint32_t tool_ptx, uint32_t *out,
                   struct tkb_error *err)
{
	const long number = strtol(arch, NULL, 10);
	const struct gpu *gpu = gpus;
	uint32_t version = tool_ptx == 0 ? DEFAULT_PTX : tool_ptx;

	while (gpu < gpus + GPU_COUNT && gpu->number != number)
		gpu++;
	if (gpu == gpus + GPU_COUNT)
		return fail_unknown_gpu(arch, err);
	if (tool_ptx != 0 && tool_ptx < gpu->first_ptx)
		return fail(err, TKB_ERR_UNSUPPORTED,
		            "sm_%s needs PTX %u.%u, but the tool that reads it "
		            "knows only versions up to %u.%u",
		            arch, gpu->first_ptx / 10, gpu->first_ptx % 10,
		            tool_ptx / 10, tool_ptx % 10);
	if (version < gpu->first_ptx)
		version = gpu->first_ptx;
	*out = version < NEWEST_PTX ? version : NEWEST_PTX;
	return 0;
}
