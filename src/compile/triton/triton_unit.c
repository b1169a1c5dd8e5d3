/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_unit.h"

#include <string.h>

static bool is_module(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL && strcmp(dot, ".py") == 0;
}

static bool is_ir(const char *path)
{
	static const char *const endings[] = { ".ttir", ".ttgir", ".glir" };
	const char *dot = strrchr(path, '.');

	return dot != NULL && tkb_is_among(dot, endings, TKB_COUNT_OF(endings));
}

static int check_stage(const char *stage, struct tkb_error *err)
{
	static const char *const stages[] = {
		"ttir", "glir",  "ttgir",  "llir",
		"ptx",  "cubin", "amdgcn", "hsaco"
	};

	return stage == NULL ||
	                       tkb_is_among(stage, stages, TKB_COUNT_OF(stages))
	               ? 0
	               : tkb_fail(err, TKB_ERR_INVALID,
	                          "there is no stage '%.32s'; there are ttir, "
	                          "glir, ttgir, llir, ptx, cubin, amdgcn and "
	                          "hsaco",
	                          stage);
}

static int check_recorded(const struct tkb_triton_unit *unit,
                          struct tkb_error *err)
{
	if (unit->file != NULL || unit->kernel != NULL ||
	    unit->signature != NULL || unit->options != NULL ||
	    unit->num_warps != 0 || unit->num_stages != 0 ||
	    unit->choice != NULL || unit->has_only_winners)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a recorded kernel needs only a target: the "
		                "recording has everything else");
	if (unit->recorded->key == NULL || unit->target == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the key and a target of a recorded kernel "
		                "must be named");
	return check_stage(unit->stage, err);
}

int tkb_triton_check_unit(const struct tkb_triton_unit *unit,
                          struct tkb_error *err)
{
	const bool has_names = unit->kernel != NULL || unit->signature != NULL;

	if (unit->recorded != NULL)
		return check_recorded(unit, err);
	if (unit->file != NULL && unit->target != NULL && is_ir(unit->file))
		return has_names ? tkb_fail(err, TKB_ERR_INVALID,
		                            "'%s' is IR: it takes no kernel "
		                            "and no signature",
		                            unit->file)
		                 : check_stage(unit->stage, err);
	if (unit->has_only_winners && has_names)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "only a module of Inductor's has winners");
	if (unit->file != NULL && unit->target != NULL && !has_names &&
	    is_module(unit->file) && unit->metadata.size == 0)
		return unit->stage == NULL
		               ? 0
		               : tkb_fail(err, TKB_ERR_INVALID,
		                          "'%s' is a module of Inductor's, "
		                          "which has no stages",
		                          unit->file);
	if (unit->file == NULL || unit->kernel == NULL ||
	    unit->signature == NULL || unit->target == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a file, a kernel, a signature and a target "
		                "must be named");
	if (unit->metadata.size != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is not IR: only IR takes metadata",
		                unit->file);
	return check_stage(unit->stage, err);
}
