/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/names.h"

#include <string.h>

#include "base/path.h"

static const char group_prefix[] = "__grp__";
static const char autotune_ending[] = ".autotune.json";

const char *tkb_name_extension(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot == NULL ? "" : dot + 1;
}

bool tkb_name_is_group(const char *name)
{
	return tkb_begins_with(name, group_prefix) &&
	       tkb_name_ends_with(name + strlen(group_prefix), ".json");
}

bool tkb_name_is_module(const char *name)
{
	return tkb_name_ends_with(name, ".so");
}

bool tkb_name_is_autotune(const char *name)
{
	return tkb_name_ends_with(name, autotune_ending);
}

size_t tkb_name_stem(const char *name, const char **start_out)
{
	*start_out = name;
	if (tkb_name_is_group(name)) {
		*start_out = name + strlen(group_prefix);
		return strlen(*start_out) - strlen(".json");
	}
	if (tkb_name_is_autotune(name))
		return strlen(name) - strlen(autotune_ending);
	return strcspn(name, ".");
}

bool tkb_name_is_lean_drop(const char *name)
{
	static const char *const dropped[] = { "source", "ttir", "ttgir",
		                               "llir",   "ptx",  "amdgcn" };

	return tkb_is_among(tkb_name_extension(name), dropped,
	                    TKB_COUNT_OF(dropped));
}

int tkb_name_compare(const char *a, const char *b)
{
	const int order = strcmp(tkb_name_extension(a), tkb_name_extension(b));

	return order != 0 ? order : strcmp(a, b);
}
