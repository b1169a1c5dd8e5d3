/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/steps.h"

#include <assert.h>
#include <string.h>

/* Texts as --help prints them. */
static const struct {
	const char *name;
	const char *text;
} steps[TKB_STEP_COUNT] = {
	[TKB_STEP_STRIP] = { "strip", "take out debug data and profiles" },
	[TKB_STEP_INTERNALIZE] = { "internalize",
	                           "make all but the kernels that stay the "
	                           "module's own" },
	[TKB_STEP_FOLD_GLOBALS] = { "fold-globals",
	                            "make constant what nothing writes" },
	[TKB_STEP_RESOLVE_CALLS] = { "resolve-calls",
	                             "call directly what stands in a constant "
	                             "table" },
	[TKB_STEP_INLINE] = { "inline", "put functions where they are called" },
	[TKB_STEP_PROPAGATE] = { "propagate",
	                         "put constants and copies where they are "
	                         "used" },
	[TKB_STEP_PEEPHOLE] = { "peephole",
	                        "write small patterns in a simpler way" },
	[TKB_STEP_CSE] = { "cse", "compute once what is computed twice" },
	[TKB_STEP_DCE] = { "dce", "drop what nothing uses" },
	[TKB_STEP_GATHER] = { "gather",
	                      "put bytes that are multiplied and summed into "
	                      "words" },
	[TKB_STEP_FUSE] = { "fuse", "rewrite by rules" },
	[TKB_STEP_PREPACK] = { "prepack",
	                       "put constant int8 weights into words, as they "
	                       "are read" },
	[TKB_STEP_FOLD] = { "fold", "read constants while compiling" },
	[TKB_STEP_VERIFY] = { "verify", "check the module" },
};

size_t tkb_finalize_step_count(void)
{
	return TKB_STEP_COUNT;
}

const char *tkb_finalize_step_name(size_t index)
{
	assert(index < TKB_STEP_COUNT);
	return steps[index].name;
}

const char *tkb_finalize_step_text(size_t index)
{
	assert(index < TKB_STEP_COUNT);
	return steps[index].text;
}

/* "strip, internalize, ..." */
static void list_names(char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < TKB_STEP_COUNT; i++) {
		const size_t length = strlen(steps[i].name);

		if (used + length + 3 > size)
			break;
		memcpy(out + used, steps[i].name, length);
		memcpy(out + used + length, ", ", 2);
		used += length + 2;
	}
	out[used - 2] = '\0';
}

int tkb_step_find(const char *name, enum tkb_step *out, struct tkb_error *err)
{
	char names[256];

	for (size_t i = 0; i < TKB_STEP_COUNT; i++) {
		if (strcmp(steps[i].name, name) == 0) {
			*out = (enum tkb_step)i;
			return 0;
		}
	}
	list_names(names, sizeof(names));
	return tkb_fail(err, TKB_ERR_INVALID,
	                "finalize has no step '%.64s', but %s", name, names);
}

int tkb_steps_check(const char *const *names, struct tkb_error *err)
{
	enum tkb_step step;
	int rc = 0;

	for (; names != NULL && *names != NULL && rc == 0; names++)
		rc = tkb_step_find(*names, &step, err);
	return rc;
}
