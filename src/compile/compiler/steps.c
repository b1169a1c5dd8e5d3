/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/steps.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"

/* Names, and texts for --help. */
static const struct {
	const char *name;
	const char *text;
} steps[TKB_STEP_COUNT] = {
	[TKB_STEP_STRIP] = { "strip", "remove debug data and profiles" },
	[TKB_STEP_INTERNALIZE] = { "internalize",
	                           "make everything internal except the "
	                           "kernels to keep" },
	[TKB_STEP_BIND] = { "bind", "make arguments of the kernel constants" },
	[TKB_STEP_FOLD_GLOBALS] = { "fold-globals", "make globals constant "
	                                            "that nothing writes" },
	[TKB_STEP_RESOLVE_CALLS] = { "resolve-calls",
	                             "call directly what is called through a "
	                             "constant table" },
	[TKB_STEP_INLINE] = { "inline", "inline functions" },
	[TKB_STEP_PROPAGATE] = { "propagate",
	                         "propagate constants and copies" },
	[TKB_STEP_PEEPHOLE] = { "peephole", "simplify small patterns" },
	[TKB_STEP_CSE] = { "cse", "compute common subexpressions once" },
	[TKB_STEP_DCE] = { "dce", "remove unused code" },
	[TKB_STEP_UNROLL] = { "unroll",
	                      "unroll loops with a known count, keep memory "
	                      "in registers" },
	[TKB_STEP_SPLIT] = { "split", "make loads and stores of asynchronous "
	                              "copies, in a small grid" },
	[TKB_STEP_READ] = { "read", "read constants by loads, not by PTX" },
	[TKB_STEP_GATHER] = { "gather",
	                      "gather the int8 factors of a sum into words" },
	[TKB_STEP_FUSE] = { "fuse", "apply rules" },
	[TKB_STEP_PREPACK] = { "prepack",
	                       "pack constant weights into words, in reading "
	                       "order" },
	[TKB_STEP_FOLD] = { "fold",
	                    "replace loads of constants by their values" },
	[TKB_STEP_OPTIMIZE] = { "optimize",
	                        "run LLVM's O3, but not over Triton's "
	                        "kernels" },
	[TKB_STEP_HOIST] = { "hoist", "issue loads before the barriers of "
	                              "earlier ones" },
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

int tkb_step_find(const char *name, enum tkb_step *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf names = TKB_BUF_INIT(512);

	for (size_t i = 0; i < TKB_STEP_COUNT; i++) {
		if (strcmp(steps[i].name, name) == 0) {
			*out = (enum tkb_step)i;
			return 0;
		}
	}
	for (size_t i = 0; i < TKB_STEP_COUNT; i++)
		tkb_print(&names, "%s%s", i == 0 ? "" : ", ", steps[i].name);
	return names.failure != 0
	               ? tkb_fail_nomem(err)
	               : tkb_fail(err, TKB_ERR_INVALID,
	                          "finalize has no step '%.64s', but %s", name,
	                          (const char *)names.data);
}

int tkb_steps_check(const char *const *names, struct tkb_error *err)
{
	enum tkb_step step;
	int rc = 0;

	for (; names != NULL && *names != NULL && rc == 0; names++)
		rc = tkb_step_find(*names, &step, err);
	return rc;
}

static const char *const quants[] = {
	[TKB_QUANT_DYNAMIC] = "dynamic",
	[TKB_QUANT_STATIC] = "static",
	[TKB_QUANT_WEIGHT_ONLY] = "weight-only",
};

const char *tkb_quant_name(enum tkb_quant quant)
{
	return (size_t)quant < TKB_COUNT_OF(quants) ? quants[quant] : NULL;
}

int tkb_quant_check(enum tkb_quant quant, struct tkb_error *err)
{
	if (quant == TKB_QUANT_ANY || tkb_quant_name(quant) != NULL)
		return 0;
	return tkb_fail(err, TKB_ERR_INVALID, "there is no quantization %u",
	                (unsigned)quant);
}
