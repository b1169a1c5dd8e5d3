/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_ANSWER_H
#define TKB_COMPILE_TRITON_TRITON_ANSWER_H

#include <tkbundle/triton_compile.h>

#include "base/arena.h"

/* An answer of triton_worker.py. */
struct tkb_triton_answer {
	struct tkb_arena arena; /* owns the texts */
	struct tkb_triton_compiled compiled;
	const char **choices; /* owned, but not the texts */
	size_t choice_capacity;
};

/* Fill a zeroed struct. Returns 0, TKB_ERR_CORRUPT or TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_triton_answer_read(struct tkb_bytes answer,
                                         struct tkb_triton_answer *out,
                                         struct tkb_error *err);

/* Release function for TKB_AUTO. */
void tkb_triton_answer_release(struct tkb_triton_answer *answer);

#endif
