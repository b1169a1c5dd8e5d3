/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_STEPS_H
#define TKB_COMPILE_COMPILER_STEPS_H

/*
 * The steps of finalize, in order, and the schemes of quantization; used by the
 * library and the worker.
 */

#include <tkbundle/finalize.h>

#include "base/base.h"

enum tkb_step {
	TKB_STEP_STRIP,
	TKB_STEP_INTERNALIZE,
	TKB_STEP_BIND,
	TKB_STEP_FOLD_GLOBALS,
	TKB_STEP_RESOLVE_CALLS,
	TKB_STEP_INLINE,
	TKB_STEP_PROPAGATE,
	TKB_STEP_PEEPHOLE,
	TKB_STEP_CSE,
	TKB_STEP_DCE,
	TKB_STEP_UNROLL,
	TKB_STEP_SPLIT,
	TKB_STEP_READ,
	TKB_STEP_GATHER,
	TKB_STEP_FUSE,
	TKB_STEP_PREPACK,
	TKB_STEP_FOLD,
	TKB_STEP_OPTIMIZE,
	TKB_STEP_HOIST,
	TKB_STEP_VERIFY,
	TKB_STEP_COUNT
};

/* Find a step by name. TKB_ERR_INVALID lists all names. */
TKB_NODISCARD int tkb_step_find(const char *name, enum tkb_step *out,
                                struct tkb_error *err);

/* Check a list of step names, which ends with NULL or is NULL. */
TKB_NODISCARD int tkb_steps_check(const char *const *names,
                                  struct tkb_error *err);

/* The name of a scheme, such as "weight-only"; NULL for any other number. */
const char *tkb_quant_name(enum tkb_quant quant);

/* Check a caller's choice: 0, or TKB_ERR_INVALID. */
TKB_NODISCARD int tkb_quant_check(enum tkb_quant quant, struct tkb_error *err);

#endif
