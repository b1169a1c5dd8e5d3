/* SPDX-License-Identifier: Apache-2.0 */
#include "text/hip.h"

#include <string.h>

#include "base/base.h"

/*
 * Machine numbers are EF_AMDGPU_MACH in LLVM's ELF.h. A wave has 64 threads up
 * to gfx9, and 32 from gfx10 on.
 */
static const struct tkb_hip_arch archs[] = {
	{ "gfx900", 0x2c, 64 },  { "gfx906", 0x2f, 64 },
	{ "gfx908", 0x30, 64 },  { "gfx90a", 0x3f, 64 },
	{ "gfx942", 0x4c, 64 },  { "gfx950", 0x4f, 64 },
	{ "gfx1010", 0x33, 32 }, { "gfx1011", 0x34, 32 },
	{ "gfx1012", 0x35, 32 }, { "gfx1030", 0x36, 32 },
	{ "gfx1031", 0x37, 32 }, { "gfx1032", 0x38, 32 },
	{ "gfx1033", 0x39, 32 }, { "gfx1034", 0x3e, 32 },
	{ "gfx1035", 0x3d, 32 }, { "gfx1036", 0x45, 32 },
	{ "gfx1100", 0x41, 32 }, { "gfx1101", 0x46, 32 },
	{ "gfx1102", 0x47, 32 }, { "gfx1103", 0x44, 32 },
	{ "gfx1150", 0x43, 32 }, { "gfx1151", 0x4a, 32 },
	{ "gfx1152", 0x55, 32 }, { "gfx1153", 0x58, 32 },
	{ "gfx1200", 0x48, 32 }, { "gfx1201", 0x4e, 32 },
	{ "gfx1250", 0x49, 32 }, { "gfx1251", 0x5a, 32 },
};

const struct tkb_hip_arch *tkb_hip_arch(size_t index)
{
	return index < TKB_COUNT_OF(archs) ? &archs[index] : NULL;
}

const struct tkb_hip_arch *tkb_hip_find(const char *name)
{
	for (size_t i = 0; i < TKB_COUNT_OF(archs); i++) {
		if (strcmp(archs[i].name, name) == 0)
			return &archs[i];
	}
	return NULL;
}
