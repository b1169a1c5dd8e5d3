/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FINALIZE_ORDER_H
#define TKB_COMPILE_FINALIZE_ORDER_H

/* What a job asks of finalize.h. It can be read without LLVM. */

#include <stdbool.h>

#include "worker/texts.h"

struct finalize_request {
	bool is_wanted;
	struct texts kernels;    /* that stay; none: all that there are */
	struct texts without;    /* names of steps that are left out */
	struct texts rules;      /* the texts of the user's files */
	struct texts rule_names; /* what those are called; may be none */
	bool is_fast;            /* rules that change rounding, too */
};

#endif
