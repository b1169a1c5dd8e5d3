/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_REQUEST_H
#define TKB_COMPILE_FINALIZE_REQUEST_H

/* The part of a request for finalize.h. It does not need LLVM. */

#include <stdbool.h>

#include <tkbundle/finalize.h>

#include "worker/texts.h"

struct bindings {
	struct tkb_binding *items;
	size_t count;
};

struct finalize_request {
	bool is_wanted;
	struct texts kernels;    /* kernels to keep; empty: keep all */
	struct texts without;    /* names of steps to skip */
	struct texts rules;      /* texts of the user's rule files */
	struct texts rule_names; /* names of the rule files; may be empty */
	struct bindings bindings;
	enum tkb_quant quant;
	bool is_printed; /* show the IR before and after each step */
	bool is_fast;    /* also apply rules that change rounding */
	/* do not fuse products and sums */
	bool is_fusion_off;
};

#endif
