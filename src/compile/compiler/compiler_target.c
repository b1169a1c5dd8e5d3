/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"

#include <stdio.h>
#include <string.h>

#include "text/hip.h"

/*
 * LLVM treats an unknown architecture as an old one, so only these are
 * accepted. From 90 on, an architecture has features that later ones lack: for
 * 90, Triton compiles for sm_90a, and so does tkbundle.
 */
static const char *const architectures[] = {
	"75",  "80",  "86",  "87",  "88",  "89",  "90",
	"100", "101", "103", "110", "120", "121",
};

#define KNOWN "cuda:75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120 and 121"

/* Is it a target for AMD GPUs? These are for Triton's kernels only. */
static bool is_hip(const char *target)
{
	return tkb_begins_with(target, "hip:") || strcmp(target, "hip") == 0;
}

static int fail_unknown_target(const char *target, struct tkb_error *err)
{
	const char *rest = strchr(target, ':');
	const char *arch = rest == NULL ? target : rest + 1;
	const size_t digits = strspn(arch, "0123456789");

	if (rest == NULL && digits != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is not a target: write cuda:%s", target,
		                target);
	if (is_hip(target))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is a target for Triton's kernels only",
		                target);
	if (!tkb_begins_with(target, "cuda:") && strcmp(target, "cuda") != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "there is no target '%s': targets are "
		                "cuda:90 and the like, and, for Triton's "
		                "kernels, hip:gfx942 and the like",
		                target);
	if (digits != 0 && (arch[digits] == 'a' || arch[digits] == 'f') &&
	    arch[digits + 1] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "there is no target '%s': write cuda:%.*s; "
		                "from 90 on, the 'a' is implied",
		                target, (int)digits, arch);
	return tkb_fail(err, TKB_ERR_INVALID,
	                "there is no target '%s': there are " KNOWN, target);
}

/* Check "hip:gfx942", or "hip:gfx942:64" with the threads per wave. */
static int check_hip_target(const char *target, struct tkb_error *err)
{
	const char *const arch = target[3] == '\0' ? "" : target + 4;
	const size_t length = strcspn(arch, ":");
	char name[16];

	for (size_t i = 0; tkb_hip_arch(i) != NULL; i++) {
		const struct tkb_hip_arch *const known = tkb_hip_arch(i);

		(void)snprintf(name, sizeof(name), ":%u",
		               (unsigned)known->wave_size);
		if (strlen(known->name) == length &&
		    strncmp(known->name, arch, length) == 0 &&
		    (arch[length] == '\0' || strcmp(arch + length, name) == 0))
			return 0;
	}
	return tkb_fail(err, TKB_ERR_INVALID,
	                "there is no target '%s': there are those of gfx9 to "
	                "gfx12, as hip:gfx90a, gfx942, gfx950, gfx1100 and "
	                "gfx1201",
	                target);
}

int tkb_target_check(const char *target, struct tkb_error *err)
{
	const char *arch = NULL;
	size_t index = 0;

	if (target != NULL && is_hip(target))
		return check_hip_target(target, err);

	return tkb_target_find(target, &index, &arch, err);
}

int tkb_target_find(const char *target, size_t *index_out,
                    const char **arch_out, struct tkb_error *err)
{
	if (target == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a target must be named, as cuda:90");
	for (size_t i = 0; i < TKB_COUNT_OF(architectures); i++) {
		const char *arch = architectures[i];
		const size_t length = strlen(arch);
		const char *rest;

		if (!tkb_begins_with(target, "cuda:") ||
		    strncmp(target + 5, arch, length) != 0)
			continue;
		rest = target + 5 + length;
		if (*rest != '\0' && strcmp(rest, ":32") != 0)
			continue;
		*index_out = i;
		*arch_out = arch;
		return 0;
	}
	return fail_unknown_target(target, err);
}
